#include "tril/ops/norm_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tril {
namespace {

// A row wider than a block of 1,024 columns takes the path that computes h twice: x alternates 1, −1, so mean
// 0, r = 1 (epsilon 0), h = x. With dy = x: mean dh = 0, mean(h dh) = 1, dx = dh − h = 0, dg = h dy = 1.
TEST(NormRows, WideRowsByHand) {
  constexpr int64_t kCols = 2600;
  std::vector<float> x(kCols), y(kCols), dx(kCols), dgain(kCols), dbias(kCols), partial(2 * kCols);
  for (int64_t i = 0; i < kCols; ++i) x[i] = i % 2 == 0 ? 1 : -1;
  const norm_rows::Sizes s{1, kCols};
  norm_rows::Stats stats{};
  norm_rows::forward(s, true, 0, x.data(), nullptr, nullptr, &stats, y.data());
  EXPECT_EQ(stats.mean, 0);
  EXPECT_EQ(stats.r, 1);
  EXPECT_EQ(y, x);
  norm_rows::backward(s, true, x.data(), nullptr, &stats, x.data(), {dx.data()}, dgain.data(), dbias.data(),
                      partial.data());
  for (int64_t i = 0; i < kCols; ++i) {
    ASSERT_NEAR(dx[i], 0, 1e-6);
    ASSERT_EQ(dgain[i], 1);
    ASSERT_EQ(dbias[i], x[i]);
  }
}

TEST(NormRows, PiecesFollowFromTheShape) {
  EXPECT_EQ(norm_rows::pieces({0, 8}), 0);
  EXPECT_EQ(norm_rows::pieces({1, 8}), 1);
  EXPECT_EQ(norm_rows::pieces({768, 128}), 12);  // 16,384 / 256 = 64 rows a piece
}

}  // namespace
}  // namespace tril
