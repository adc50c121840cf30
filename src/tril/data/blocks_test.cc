#include "tril/data/blocks.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tril/base/error.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

Ids count_to(int n) {
  Ids ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::string refusal(const auto& body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "no refusal";
}

TEST(Blocks, TargetsAreTheNextIds) {
  const Ids ids = count_to(12);
  const Blocks blocks(ids, 8, "text");
  EXPECT_EQ(blocks.starts(), 4);
  EXPECT_EQ(blocks.targets(), 11);
  Ids x(8), y(8);
  blocks.fetch(3, x.data(), y.data());
  EXPECT_EQ(x.front(), 3);
  EXPECT_EQ(y.front(), 4);
  EXPECT_EQ(y.back(), 11);  // the stream's last id
}

TEST(Blocks, NineTokensAreOneBlockOfEight) {
  const Ids ids = count_to(9);
  const Blocks blocks(ids, 8, "text");
  EXPECT_EQ(blocks.starts(), 1);
  EXPECT_EQ(blocks.consecutive(), 1);
  EXPECT_EQ(blocks.unused(), 0);
}

// Case 13, without a file.
TEST(Blocks, ShortStreamIsRefusedWithBothNumbers) {
  const Ids ids = count_to(8);
  EXPECT_EQ(refusal([&] { Blocks(ids, 8, "ctx8_len8.txt"); }),
            "ctx8_len8.txt: 8 tokens, needs 9 (a block of 8 and its last target); use more text, or a "
            "context of at "
            "most 7");
  EXPECT_EQ(refusal([&] { Blocks(std::span(ids).first(1), 8, "t"); }),
            "t: 1 token, needs 9 (a block of 8 and its last target); use more text");
  EXPECT_NE(refusal([&] { Blocks({}, 1, "t"); }), "no refusal");
}

// Case 15: no usable token is left out but a tail shorter than a block, and that is counted.
TEST(Blocks, ConsecutiveBlocksHoldEveryTargetOnce) {
  for (int n = 9; n < 40; ++n) {
    const Ids ids = count_to(n);
    const Blocks blocks(ids, 8, "text");
    Ids seen(static_cast<size_t>(n), 0);
    for (int64_t i = 0; i < blocks.consecutive(); ++i) {
      const auto [start, length] = blocks.consecutive(i);
      for (int64_t t = 0; t < length; ++t) ++seen[static_cast<size_t>(start + t + 1)];
    }
    EXPECT_EQ(seen[0], 0);
    for (int t = 1; t < n; ++t) EXPECT_EQ(seen[static_cast<size_t>(t)], 1) << n << " ids, target " << t;
    EXPECT_LT(blocks.unused(), 8);
    EXPECT_EQ(blocks.unused(), (n - 1) % 8);
  }
}

TEST(Blocks, IdsOutsideTheVocabularyAreNamed) {
  const Ids ids = {1, 2, 3, 65000, 4};
  EXPECT_EQ(refusal([&] { require_ids_below(ids, 262, "tokens.bin"); }),
            "tokens.bin: position 3: id 65000 is outside the vocabulary of 262");
  EXPECT_NE(refusal([&] { require_ids_below(Ids{-1}, 262, "tokens.bin"); }), "no refusal");
  require_ids_below(Ids{0, 261}, 262, "tokens.bin");
}

}  // namespace
}  // namespace tril
