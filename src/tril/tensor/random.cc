// PyTorch's CPU draws. The rules were read off PyTorch 2.13's headers and are checked against its numbers
// (tests/parity/random.json). See random.h.
#include "tril/tensor/random.h"

#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

namespace tril {

namespace {

/// Ranges from here on take 64 random bits (2^28 in PyTorch 2.13; 2^32 in releases before 2.8 or so).
constexpr uint64_t kWideRange = uint64_t{1} << 28;
constexpr size_t kGroup = 16;
constexpr std::string_view kTag = "trilTG01";

/// Box–Muller on 16 uniforms in [0, 1): values 0–7 give the radius, 8–15 the angle; cosines come first, then
/// sines. u, angle and radius are rounded to float where PyTorch rounds them; log, sin and cos are taken in
/// double, which is the same on every machine once rounded.
void box_muller(std::span<float, kGroup> group, float mean, float deviation) {
  constexpr float two_pi = static_cast<float>(2 * std::numbers::pi);
  for (size_t j = 0; j < kGroup / 2; ++j) {
    const float u = 1.0f - group[j];  // (0, 1], so that the logarithm is finite
    const float angle = two_pi * group[j + kGroup / 2];
    const float radius = std::sqrt(-2.0f * static_cast<float>(std::log(double{u})));
    const float cosine = static_cast<float>(std::cos(double{angle}));
    const float sine = static_cast<float>(std::sin(double{angle}));
    group[j] = std::fma(radius * cosine, deviation, mean);
    group[j + kGroup / 2] = std::fma(radius * sine, deviation, mean);
  }
}

template <class Int>
void fill_integers(TorchGenerator& generator, std::span<Int> out, int64_t low, int64_t high) {
  for (Int& value : out) value = static_cast<Int>(generator.randint(low, high));
}

}  // namespace

void TorchGenerator::manual_seed(uint64_t seed) {
  words_.seed_word(static_cast<uint32_t>(seed));
  kept_normal_.reset();
}

uint64_t TorchGenerator::random64() {
  const uint64_t high = random();
  return high << 32 | random();
}

float TorchGenerator::rand() {
  return static_cast<float>(random() & 0xffffffu) * 0x1p-24f;
}

void TorchGenerator::uniform(std::span<float> out, double from, double to) {
  const float low = static_cast<float>(from), high = static_cast<float>(to);
  assert(low <= high);
  for (float& value : out) {
    // PyTorch's kernel is compiled with fused multiply-add, so this is one rounding, not two.
    value = std::fma(rand(), high - low, low);
    if (value == high) value = low;
  }
}

double TorchGenerator::normal_double() {
  if (kept_normal_) return *std::exchange(kept_normal_, std::nullopt);
  const auto uniform = [this] {
    return static_cast<double>(random64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  };
  const double u1 = uniform(), u2 = uniform();
  const double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 2.0 * std::numbers::pi * u1;
  kept_normal_ = radius * std::sin(angle);
  return radius * std::cos(angle);
}

void TorchGenerator::normal(std::span<float> out, double mean, double deviation) {
  assert(deviation >= 0);
  if (out.size() < kGroup) {
    for (float& value : out) value = static_cast<float>(normal_double() * deviation + mean);
    return;
  }
  const float m = static_cast<float>(mean), d = static_cast<float>(deviation);
  for (float& value : out) value = rand();
  for (size_t i = 0; i + kGroup <= out.size(); i += kGroup) box_muller(out.subspan(i).first<kGroup>(), m, d);
  if (out.size() % kGroup != 0) {  // the last 16 are drawn anew, those already made among them
    const auto last = out.last<kGroup>();
    for (float& value : last) value = rand();
    box_muller(last, m, d);
  }
}

int64_t TorchGenerator::randint(int64_t low, int64_t high) {
  assert(low < high);
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  const uint64_t draw = range >= kWideRange ? random64() : random();
  return static_cast<int64_t>(static_cast<uint64_t>(low) + draw % range);
}

void TorchGenerator::randint(std::span<int64_t> out, int64_t low, int64_t high) {
  fill_integers(*this, out, low, high);
}

void TorchGenerator::randint(std::span<int32_t> out, int64_t low, int64_t high) {
  fill_integers(*this, out, low, high);
}

std::vector<int64_t> TorchGenerator::randperm(int64_t n) {
  assert(n >= 0 && n < (int64_t{1} << 32) / 20);
  std::vector<int64_t> order(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  for (int64_t i = 0; i + 1 < n; ++i) {
    std::swap(order[i], order[i + static_cast<int64_t>(random() % static_cast<uint64_t>(n - i))]);
  }
  return order;
}

void TorchGenerator::linear_weight(std::span<float> out, int64_t fan_in) {
  assert(fan_in >= 1);
  // The steps of kaiming_uniform_, in its order: they round differently from 1/√fan_in in the last place.
  const double gain = std::sqrt(2.0 / (1.0 + std::pow(std::sqrt(5.0), 2)));
  const double bound = std::sqrt(3.0) * (gain / std::sqrt(static_cast<double>(fan_in)));
  uniform(out, -bound, bound);
}

void TorchGenerator::linear_bias(std::span<float> out, int64_t fan_in) {
  assert(fan_in >= 1);
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  uniform(out, -bound, bound);
}

std::string TorchGenerator::state() const {
  return save_generator(kTag, words_, kept_normal_);
}

void TorchGenerator::set_state(std::string_view bytes) {
  load_generator(kTag, bytes, words_, kept_normal_);
}

}  // namespace tril
