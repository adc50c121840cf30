// tril's own random numbers, for choosing tokens and for dropout. Draw number n of a seed is a hash of (seed,
// stream, n), so draws may be taken in any order and by any thread, and the whole state is a few integers.
// What it leaves out: weights and batches, which take PyTorch's draws (random.h), and any cryptographic use.
#pragma once
#include <cstdint>

namespace tril {

class Draws {
 public:
  /// Streams of one seed are independent of each other: give each use (a sample, a layer's dropout) its own.
  /// Position 0 is that of draw `first`.
  explicit Draws(uint64_t seed, uint64_t stream = 0, uint64_t first = 0)
      : key_(mix(mix(seed) + mix(~stream))), origin_(first) {}

  /// 64 uniform bits, and a uniform value in [0, 1) of 53 bits, at position n; the state stays as it is.
  uint64_t bits_at(uint64_t n) const { return mix(mix(key_ + (origin_ + n) * kGolden) ^ key_); }
  double uniform_at(uint64_t n) const { return static_cast<double>(bits_at(n) >> 11) * 0x1p-53; }

  /// The next one.
  uint64_t bits() { return bits_at(position_++); }
  double uniform() { return uniform_at(position_++); }

  /// How many were taken: with seed and stream, the whole state. Set it to go on from there.
  uint64_t position() const { return position_; }
  void set_position(uint64_t position) { position_ = position; }

  /// An invertible mixing of 64 bits: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
  static constexpr uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 over the golden ratio, odd

  uint64_t key_, origin_;
  uint64_t position_ = 0;
};

}  // namespace tril
