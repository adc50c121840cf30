// Byte strings → ids, for the pieces of a text: open addressing over strings that somebody else keeps.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tril {

/// 64 well-mixed bits of a short byte string. The same on every machine of one byte order; never stored.
inline uint64_t hash_piece(std::string_view piece) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ull;
  const auto load = [&](size_t at, size_t bytes) {
    uint64_t word = 0;
    std::memcpy(&word, piece.data() + at, bytes);
    return word;
  };
  const auto mix = [](uint64_t x) {
    x *= kOdd;
    return x ^ x >> 32;
  };
  const size_t size = piece.size();
  uint64_t hash = size * kOdd;
  if (size >= 8) {
    for (size_t at = 0; at + 8 < size; at += 8) hash = mix(hash ^ load(at, 8));
    return mix(hash ^ load(size - 8, 8));
  }
  if (size >= 4) return mix(mix(hash ^ load(0, 4)) ^ load(size - 4, 4));
  if (size == 0) return hash;
  const auto byte = [&](size_t at) { return static_cast<uint64_t>(static_cast<uint8_t>(piece[at])); };
  return mix(hash ^ (byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16));
}

class PieceTable {
 public:
  PieceTable() : slots_(2), mask_(1) {}
  explicit PieceTable(size_t pieces) {
    size_t size = 2;
    while (size < 2 * pieces + 2) size *= 2;
    slots_.resize(size);
    mask_ = size - 1;
  }

  /// Adds a piece, whose bytes must outlive the table, unless it is there already. Returns the id it has
  /// then.
  int32_t add(std::string_view piece, int32_t id) {
    Slot& slot = slots_[slot_of(piece)];
    if (slot.id < 0) slot = {piece.data(), static_cast<uint32_t>(piece.size()), id};
    return slot.id;
  }
  /// The piece's id, or -1.
  int32_t find(std::string_view piece) const { return slots_[slot_of(piece)].id; }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    int32_t id = -1;
  };
  size_t slot_of(std::string_view piece) const {
    size_t at = hash_piece(piece) & mask_;
    while (slots_[at].id >= 0 && std::string_view(slots_[at].data, slots_[at].size) != piece)
      at = (at + 1) & mask_;
    return at;
  }

  std::vector<Slot> slots_;
  size_t mask_;
};

}  // namespace tril
