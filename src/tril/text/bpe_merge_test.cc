#include "tril/text/bpe_merge.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

/// The rule word by word: find the lowest rank, merge the leftmost of it, start over.
Ids plain(const PairTable& table, Ids ids) {
  for (;;) {
    uint32_t best = kNoRank;
    size_t at = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      const uint32_t rank = ids[i] < 0 || ids[i + 1] < 0 ? kNoRank : table.find(ids[i], ids[i + 1]).rank;
      if (rank < best) {
        best = rank;
        at = i;
      }
    }
    if (best == kNoRank) return ids;
    ids[at] = table.find(ids[at], ids[at + 1]).merged;
    ids.erase(ids.begin() + static_cast<long>(at) + 1);
  }
}

TEST(BpeMerge, ByHand) {
  // h e → 10, l l → 11, he ll → 12, with h e l o = 0 1 2 3.
  PairTable table(3);
  table.put(0, 1, 0, 10);
  table.put(2, 2, 1, 11);
  table.put(10, 11, 2, 12);
  PieceMerger merger;
  Ids ids = {0, 1, 2, 2, 3};
  merger.merge(table, ids);
  EXPECT_EQ(ids, (Ids{12, 3}));
  ids = {2, 2, 2};  // the leftmost pair first
  merger.merge(table, ids);
  EXPECT_EQ(ids, (Ids{11, 2}));
  ids = {2, -1, 2};  // -1 merges with nothing
  merger.merge(table, ids);
  EXPECT_EQ(ids, (Ids{2, -1, 2}));
}

TEST(BpeMerge, ShortAndLongPiecesFollowTheSameRule) {
  std::mt19937 random(3);
  PieceMerger merger;
  for (int round = 0; round < 300; ++round) {
    // Random merges over 4 symbols; ranks with ties, as tiktoken's tables have them.
    const int symbols = 4 + static_cast<int>(random() % 40);
    PairTable table(static_cast<size_t>(symbols));
    for (int id = 4; id < symbols; ++id) {
      table.put(static_cast<int32_t>(random() % id), static_cast<int32_t>(random() % id),
                static_cast<uint32_t>(round % 2 ? id : id / 2), id);
    }
    Ids ids(random() % (round % 3 ? 40 : 400));
    for (int32_t& id : ids) id = static_cast<int32_t>(random() % 4);
    const Ids expected = plain(table, ids);
    merger.merge(table, ids);
    ASSERT_EQ(ids, expected);
  }
}

TEST(BpeMerge, ARunOfAMillionHalvesAgainAndAgain) {
  PairTable table(20);
  for (int32_t id = 0; id < 20; ++id) table.put(id, id, static_cast<uint32_t>(id), id + 1);
  Ids ids(1 << 20, 0);
  PieceMerger().merge(table, ids);
  EXPECT_EQ(ids, (Ids{20}));
}

TEST(BpeMerge, ALaterEntryReplacesAnEarlierOne) {
  PairTable table(2);
  table.put(1, 2, 5, 7);
  table.put(1, 2, 9, 8);
  EXPECT_EQ(table.find(1, 2).rank, 9u);
  EXPECT_EQ(table.find(1, 2).merged, 8);
  EXPECT_EQ(table.find(2, 1).rank, kNoRank);
}

}  // namespace
}  // namespace tril
