// The merging half of BPE: a table of pairs, each with a rank and the id it becomes, and the rule that
// applies it to one piece. What it leaves out: where pieces and ids come from (bpe).
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

namespace tril {

inline constexpr uint32_t kNoRank = 0xFFFFFFFF;

/// (left id, right id) → (rank, merged id). Open addressing, at most half full, fixed once built.
class PairTable {
 public:
  struct Entry {
    uint64_t pair = kEmpty;
    uint32_t rank = kNoRank;
    int32_t merged = -1;
  };

  PairTable() : slots_(2), mask_(1) {}
  explicit PairTable(size_t pairs);

  /// A later entry for the same pair replaces the earlier one.
  void put(int32_t left, int32_t right, uint32_t rank, int32_t merged);
  /// The entry, or one with rank kNoRank. Ids are ≥ 0.
  const Entry& find(int32_t left, int32_t right) const {
    const uint64_t pair = pack(left, right);
    for (size_t at = slot(pair);; at = (at + 1) & mask_) {
      const Entry& entry = slots_[at];
      if (entry.pair == pair || entry.pair == kEmpty) return entry;
    }
  }

 private:
  static constexpr uint64_t kEmpty = ~0ull;
  static uint64_t pack(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t slot(uint64_t pair) const {
    const uint64_t mixed = (pair ^ pair >> 29) * 0x9E3779B97F4A7C15ull;
    return static_cast<size_t>(mixed >> 32) & mask_;
  }

  std::vector<Entry> slots_;
  size_t mask_;
};

/// Merges a piece in place: again and again the adjacent pair of lowest rank, the leftmost of equals, until
/// no pair is in the table. Short pieces are scanned for the lowest rank; long ones keep a heap, O(n log n)
/// in all. Thread safety: one object a thread; it holds the working memory.
class PieceMerger {
 public:
  /// `ids` (each ≥ 0, or -1 for a symbol that merges with nothing) becomes the merged ids. Fewer than 2^32.
  void merge(const PairTable& table, std::vector<int32_t>& ids) {
    if (ids.size() < 2) return;
    if (ids.size() <= kScanned) {
      scan(table, ids);
    } else {
      heap(table, ids);
    }
  }

 private:
  static constexpr size_t kScanned = 48;
  struct Node {
    int32_t id;
    uint32_t rank;  // of the pair that starts here
    uint32_t previous, next;
  };

  void scan(const PairTable& table, std::vector<int32_t>& ids);
  void heap(const PairTable& table, std::vector<int32_t>& ids);

  std::vector<Node> nodes_;
  std::vector<uint64_t> heap_;
};

}  // namespace tril
