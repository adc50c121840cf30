// CPython's random.Random. The rules were read off CPython 3.11's random.py and are checked against its
// numbers (tests/parity/python_random.json). See python_random.h.
#include "tril/tensor/python_random.h"

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>

namespace tril {

namespace {

constexpr std::string_view kTag = "trilPY01";

}  // namespace

PythonRandom::PythonRandom(int64_t seed) {
  const uint64_t size = seed < 0 ? uint64_t{0} - static_cast<uint64_t>(seed) : static_cast<uint64_t>(seed);
  const std::array<uint32_t, 2> key{static_cast<uint32_t>(size), static_cast<uint32_t>(size >> 32)};
  words_.seed_array(std::span(key).first(key[1] != 0 ? 2 : 1));
}

double PythonRandom::random() {
  const uint32_t high = words_.next() >> 5, low = words_.next() >> 6;
  return (high * 67108864.0 + low) * 0x1p-53;
}

double PythonRandom::gauss(double mean, double deviation) {
  double z;
  if (kept_gauss_) {
    z = *std::exchange(kept_gauss_, std::nullopt);
  } else {
    const double angle = random() * (2.0 * std::numbers::pi);
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random()));
    z = std::cos(angle) * radius;
    kept_gauss_ = std::sin(angle) * radius;
  }
  return mean + z * deviation;
}

uint64_t PythonRandom::getrandbits(int count) {
  assert(count >= 1 && count <= 64);
  if (count <= 32) return words_.next() >> (32 - count);
  const uint64_t low = words_.next();
  return low | uint64_t{words_.next() >> (64 - count)} << 32;
}

uint64_t PythonRandom::randrange(uint64_t n) {
  assert(n >= 1);
  const int bits = std::bit_width(n);
  uint64_t value = getrandbits(bits);
  while (value >= n) value = getrandbits(bits);
  return value;
}

int64_t PythonRandom::randrange(int64_t low, int64_t high) {
  assert(low < high);
  const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + randrange(width));
}

size_t PythonRandom::choice(std::span<const double> weights) {
  double total = 0;
  for (double weight : weights) total += weight;
  assert(!weights.empty() && total > 0 && std::isfinite(total));
  const double point = random() * total;
  double sum = 0;
  for (size_t i = 0; i + 1 < weights.size(); ++i) {
    sum += weights[i];
    if (point < sum) return i;
  }
  return weights.size() - 1;
}

size_t PythonRandom::choice(size_t n) {
  assert(n > 0);
  return static_cast<size_t>(std::floor(random() * static_cast<double>(n)));
}

std::string PythonRandom::state() const {
  return save_generator(kTag, words_, kept_gauss_);
}

void PythonRandom::set_state(std::string_view bytes) {
  load_generator(kTag, bytes, words_, kept_gauss_);
}

}  // namespace tril
