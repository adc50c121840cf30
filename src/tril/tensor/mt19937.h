// The Mersenne Twister MT19937 (Matsumoto and Nishimura, 1998): the 32-bit words that PyTorch's CPU generator
// and CPython's random both draw from. They differ only in how they seed it, and both ways are here. What it
// leaves out: turning words into numbers (random.h, python_random.h).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tril {

class Mt19937 {
 public:
  static constexpr int kWords = 624;

  /// Seeds from one word (the authors' init_genrand), as torch.manual_seed does with the low 32 bits.
  explicit Mt19937(uint32_t seed) { seed_word(seed); }
  void seed_word(uint32_t seed);
  /// Seeds from an array of words (the authors' init_by_array), as Python's random.seed(int) does. Not empty.
  void seed_array(std::span<const uint32_t> key);

  /// The next word, uniform in [0, 2^32).
  uint32_t next() {
    if (position_ == kWords) refill();
    uint32_t y = state_[position_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  /// How many of the 624 words are used, and the words: what has to be saved.
  uint32_t position() const { return position_; }
  const std::array<uint32_t, kWords>& state() const { return state_; }
  /// Takes a saved state back. False where the position is above 624 or all words are zero (which no seed
  /// gives); then nothing changes.
  bool restore(uint32_t position, const std::array<uint32_t, kWords>& state);

  bool operator==(const Mt19937&) const = default;

 private:
  void refill();

  std::array<uint32_t, kWords> state_;
  uint32_t position_ = kWords;
};

/// A generator's whole state as bytes, the same on every machine: an 8-byte tag, position and words (32-bit
/// little-endian), a byte 0 or 1, and the kept normal value's 64 bits.
std::string save_generator(std::string_view tag, const Mt19937& words, std::optional<double> kept);
/// Reads what save_generator wrote under the same tag. Throws Refusal where the bytes are not that; then
/// nothing changes.
void load_generator(std::string_view tag, std::string_view bytes, Mt19937& words,
                    std::optional<double>& kept);

}  // namespace tril
