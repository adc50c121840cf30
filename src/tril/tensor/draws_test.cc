// Draws: order does not matter, streams differ, values are uniform.
#include "tril/tensor/draws.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>

namespace tril {
namespace {

TEST(DrawsTest, MixIsSplitMixs) {
  // The first output of SplitMix64 from state 0 mixes 0x9e3779b97f4a7c15.
  EXPECT_EQ(Draws::mix(0x9e3779b97f4a7c15u), 0xe220a8397b1dcdafu);
}

TEST(DrawsTest, AnyOrderGivesTheSameValues) {
  Draws forward(7, 2), again(7, 2);
  for (uint64_t n = 0; n < 50; ++n) EXPECT_EQ(forward.uniform(), again.uniform_at(n));
  EXPECT_EQ(forward.position(), 50u);
  EXPECT_EQ(again.position(), 0u);
  again.set_position(50);
  EXPECT_EQ(again.bits(), forward.bits());
}

TEST(DrawsTest, NeighbouringSeedsAndStreamsShareNothing) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint64_t stream = 0; stream < 10; ++stream) {
      Draws draws(seed, stream);
      for (int n = 0; n < 100; ++n) seen.insert(draws.bits());
    }
  }
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(DrawsTest, UniformByChiSquareAndByEachBit) {
  Draws draws(0);
  constexpr int kDraws = 64'000, kBins = 64;
  std::array<int, kBins> bins{};
  std::array<int, 64> ones{};
  for (uint64_t n = 0; n < kDraws; ++n) {
    const double u = draws.uniform_at(n);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<size_t>(u * kBins)];
    for (size_t bit = 0; bit < 64; ++bit) ones[bit] += draws.bits_at(n) >> bit & 1;
  }
  double chi_square = 0;
  for (int count : bins) chi_square += std::pow(count - kDraws / kBins, 2) / (kDraws / kBins);
  EXPECT_LT(chi_square, 118);  // 63 degrees of freedom: above this one time in 30,000
  for (int count : ones) EXPECT_NEAR(count, kDraws / 2, 5 * std::sqrt(kDraws) / 2);
}

TEST(DrawsTest, NextDrawDoesNotDependOnThisOne) {
  Draws draws(123);
  double sum = 0;
  constexpr int kDraws = 100'000;
  for (uint64_t n = 0; n < kDraws; ++n) sum += (draws.uniform_at(n) - 0.5) * (draws.uniform_at(n + 1) - 0.5);
  EXPECT_NEAR(sum / kDraws, 0, 5.0 / 12 / std::sqrt(kDraws));  // deviation of a product is 1/12
}

}  // namespace
}  // namespace tril
