// CPython's random.Random, for programs that are laid beside a plain Python one (microgpt): the same seed
// gives the same numbers bit for bit. Follows CPython 3.11's rules, which hold from 3.2 (shuffle, randrange)
// and 3.6 (choices). What it leaves out: every other method, and seeds that are no integers.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tril/tensor/mt19937.h"

namespace tril {

/// random.Random(seed). One generator, one thread.
class PythonRandom {
 public:
  /// random.seed(int): the sign is dropped, as there.
  explicit PythonRandom(int64_t seed);

  /// random.random(): uniform in [0, 1), 53 bits.
  double random();
  /// random.uniform(a, b).
  double uniform(double a, double b) { return a + (b - a) * random(); }
  /// random.gauss(mean, deviation): values come in pairs, the second is kept for the next call.
  double gauss(double mean, double deviation);
  /// random.getrandbits(count), 1 ≤ count ≤ 64.
  uint64_t getrandbits(int count);
  /// random.randrange(n): uniform in [0, n), by rejection; n ≥ 1.
  uint64_t randrange(uint64_t n);
  /// random.randrange(low, high), low < high.
  int64_t randrange(int64_t low, int64_t high);
  /// random.choices(range(weights.size()), weights)[0]: an index, with chance weight over total. The weights'
  /// running sum is taken from left to right. Not empty, total finite and > 0.
  size_t choice(std::span<const double> weights);
  /// random.choices(range(n))[0].
  size_t choice(size_t n);

  /// random.shuffle(items).
  template <class T>
  void shuffle(std::span<T> items) {
    for (size_t i = items.size(); i-- > 1;) std::swap(items[i], items[randrange(uint64_t{i} + 1)]);
  }

  /// The whole state as bytes, the same on every machine.
  std::string state() const;
  /// Takes a state back. Throws Refusal where the bytes are not one.
  void set_state(std::string_view bytes);

  bool operator==(const PythonRandom&) const = default;

 private:
  Mt19937 words_{0};
  std::optional<double> kept_gauss_;
};

}  // namespace tril
