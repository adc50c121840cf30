// MT19937: seeding, the refill of 624 words, and the saved state. See mt19937.h.
#include "tril/tensor/mt19937.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "tril/base/error.h"

namespace tril {

namespace {

constexpr int kShift = 397;
constexpr size_t kTagBytes = 8;
constexpr size_t kStateBytes = kTagBytes + 4 * (1 + Mt19937::kWords) + 1 + 8;

/// The recurrence: upper bit of `high`, lower 31 bits of `low`, shifted, with the matrix A where the last bit
/// is set.
uint32_t twist(uint32_t high, uint32_t low) {
  const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
  return (mixed >> 1) ^ ((low & 1u) ? 0x9908b0dfu : 0u);
}

void append_u32(std::string& bytes, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
}

uint32_t read_u32(std::string_view bytes, size_t offset) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[offset + i])} << (8 * i);
  return value;
}

}  // namespace

void Mt19937::seed_word(uint32_t seed) {
  state_[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  position_ = kWords;
}

void Mt19937::seed_array(std::span<const uint32_t> key) {
  assert(!key.empty());
  seed_word(19650218u);
  uint32_t i = 1, j = 0;
  // One step of either pass: mix the word before into word i, then go on, carrying the last word round to the
  // front.
  const auto mix = [&](uint32_t factor, uint32_t added) {
    state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor)) + added;
    if (++i == kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  };
  for (size_t k = std::max<size_t>(kWords, key.size()); k > 0; --k) {
    mix(1664525u, key[j] + j);
    if (++j == key.size()) j = 0;
  }
  for (int k = kWords - 1; k > 0; --k) mix(1566083941u, 0u - i);
  state_[0] = 0x80000000u;
  position_ = kWords;
}

void Mt19937::refill() {
  for (int i = 0; i < kWords; ++i) {
    state_[i] = state_[(i + kShift) % kWords] ^ twist(state_[i], state_[(i + 1) % kWords]);
  }
  position_ = 0;
}

bool Mt19937::restore(uint32_t position, const std::array<uint32_t, kWords>& state) {
  const bool all_zero = std::all_of(state.begin(), state.end(), [](uint32_t word) { return word == 0; });
  if (position > kWords || all_zero) return false;
  position_ = position;
  state_ = state;
  return true;
}

std::string save_generator(std::string_view tag, const Mt19937& words, std::optional<double> kept) {
  assert(tag.size() == kTagBytes);
  std::string bytes(tag);
  append_u32(bytes, words.position());
  for (uint32_t word : words.state()) append_u32(bytes, word);
  bytes.push_back(kept ? '\1' : '\0');
  const uint64_t bits = std::bit_cast<uint64_t>(kept.value_or(0.0));
  append_u32(bytes, static_cast<uint32_t>(bits));
  append_u32(bytes, static_cast<uint32_t>(bits >> 32));
  return bytes;
}

void load_generator(std::string_view tag, std::string_view bytes, Mt19937& words,
                    std::optional<double>& kept) {
  if (bytes.size() != kStateBytes || !bytes.starts_with(tag)) {
    refuse("random state: {} bytes that are no saved generator; {} bytes beginning \"{}\" were expected",
           bytes.size(), kStateBytes, tag);
  }
  const uint32_t position = read_u32(bytes, kTagBytes);
  std::array<uint32_t, Mt19937::kWords> state;
  for (size_t i = 0; i < state.size(); ++i) state[i] = read_u32(bytes, kTagBytes + 4 * (i + 1));
  const char flag = bytes[kStateBytes - 9];
  Mt19937 restored(0);
  if ((flag != '\0' && flag != '\1') || !restored.restore(position, state)) {
    refuse("random state: the saved generator is damaged");
  }
  words = restored;
  kept.reset();
  if (flag) {
    kept = std::bit_cast<double>(read_u32(bytes, kStateBytes - 8) | uint64_t{read_u32(bytes, kStateBytes - 4)}
                                                                        << 32);
  }
}

}  // namespace tril
