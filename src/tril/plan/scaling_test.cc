#include "tril/plan/scaling.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

constexpr Link kLink{1e-4, 1e8};

// Two ranks send each other half of 8 MB twice: 2 (1e-4 + 4e6 / 1e8) = 0.0802 s. One has nobody to send to.
TEST(PlanScaling, ARingSendsTwiceTheShareOfEachOther) {
  EXPECT_DOUBLE_EQ(sum_seconds(2, 8e6, 1, kLink), 0.0802);
  EXPECT_DOUBLE_EQ(sum_seconds(4, 8e6, 3, kLink), 6 * (3e-4 + 0.02));
  EXPECT_EQ(sum_seconds(1, 8e6, 1, kLink), 0);
}

TEST(PlanScaling, TheLinkIsReadOffItsOwnFormula) {
  for (const int64_t ranks : {2, 4, 7}) {
    const Link found = fit_link(ranks, {{64, sum_seconds(ranks, 64, 1, kLink)},
                                        {1e6, sum_seconds(ranks, 1e6, 1, kLink)},
                                        {1e8, sum_seconds(ranks, 1e8, 1, kLink)}});
    EXPECT_NEAR(found.latency, kLink.latency, 1e-6);
    EXPECT_NEAR(found.bytes_per_second, kLink.bytes_per_second, 1e4);
  }
}

// A step of 0.1 + 0.01 · 32 alone; by 2 ranks the sum of 8 MB hides behind backward but for its last 1 MB.
TEST(PlanScaling, WhatBackwardHidesCostsNothing) {
  const RankStep step{.fixed = 0.1, .example = 0.01, .bytes = 8e6, .last_bytes = 1e6, .buckets = 2};
  EXPECT_DOUBLE_EQ(step_seconds(1, 32, step, kLink), 0.42);
  EXPECT_DOUBLE_EQ(step_seconds(2, 32, step, kLink), 0.1 + 0.16 + sum_seconds(2, 1e6, 1, kLink) + 4e-4);
  // A link ten times slower: 0.8004 s of sums, two thirds of 0.16 s beside backward.
  const Link slow{1e-4, 1e7};
  EXPECT_DOUBLE_EQ(step_seconds(2, 32, step, slow),
                   0.1 + 0.16 + sum_seconds(2, 8e6, 2, slow) - 2.0 / 3 * 0.16 + 4e-4);
}

}  // namespace
}  // namespace tril
