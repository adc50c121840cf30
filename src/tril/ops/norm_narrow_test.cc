#include "tril/ops/norm_narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

using norm_rows::Stats;

// Both passes of one row in double, by the formulas at the head of norm_rows.h.
struct Expected {
  double mean = 0, r = 0, mean_dh = 0, mean_h_dh = 0;
  Expected(bool center, const float* x, const float* dy, const float* g, int64_t n) {
    double square = 0;
    for (int64_t i = 0; i < n && center; ++i) mean += x[i] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) square += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
    r = 1 / std::sqrt(square + 1e-5);
    for (int64_t i = 0; i < n; ++i) {
      const double dh = g[i] * double{dy[i]};
      if (center) mean_dh += dh / static_cast<double>(n);
      mean_h_dh += (x[i] - mean) * r * dh / static_cast<double>(n);
    }
  }
};

void expect_both_passes(int64_t cols, bool center) {
  constexpr int64_t kRows = 5;
  const std::vector<float> x = numbers(kRows * cols, 1), dy = numbers(kRows * cols, 2),
                           gain = numbers(cols, 3), bias = numbers(cols, 4), old = numbers(kRows * cols, 5);
  std::vector<float> y(x.size()), dx = old, dg(static_cast<size_t>(cols), 1), db = dg;
  std::vector<Stats> stats(kRows);
  norm_rows::narrow_forward({kRows, cols}, center, 1e-5f, x.data(), gain.data(), bias.data(), stats.data(),
                            y.data());
  norm_rows::narrow_backward({kRows, cols}, center, x.data(), gain.data(), stats.data(), dy.data(),
                             {dx.data()}, dg.data(), db.data());
  std::vector<double> dg_wanted(static_cast<size_t>(cols), 1), db_wanted = dg_wanted;
  for (int64_t row = 0; row < kRows; ++row) {
    const int64_t at = row * cols;
    const Expected e(center, x.data() + at, dy.data() + at, gain.data(), cols);
    for (int64_t i = 0; i < cols; ++i) {
      const double h = (x[at + i] - e.mean) * e.r, dh = gain[i] * double{dy[at + i]};
      ASSERT_NEAR(y[at + i], gain[i] * h + bias[i], 1e-5);
      ASSERT_NEAR(dx[at + i], old[at + i] + e.r * (dh - e.mean_dh - h * e.mean_h_dh), 1e-5);
      dg_wanted[i] += h * dy[at + i], db_wanted[i] += dy[at + i];
    }
  }
  for (int64_t i = 0; i < cols; ++i) {
    ASSERT_NEAR(dg[i], dg_wanted[i], 1e-5);
    ASSERT_NEAR(db[i], db_wanted[i], 1e-5);
  }
}

TEST(NormNarrow, BothPassesEqualTheFormulasInDouble) {
  int taken = 0;
  each_vector_level([&] {
    for (int64_t cols : {4, 8, 16, 32, 48, 64})
      for (bool center : {false, true}) {
        if (!norm_rows::is_narrow(cols)) continue;
        SCOPED_TRACE(cols);
        expect_both_passes(cols, center);
        ++taken;
      }
  });
  EXPECT_GT(taken, 0);
}

// One to four whole vectors; no vector of this processor's has more than 16 numbers.
TEST(NormNarrow, TakesWholeVectorsAlone) {
  each_vector_level([] {
    EXPECT_FALSE(norm_rows::is_narrow(0));
    EXPECT_FALSE(norm_rows::is_narrow(17));
    EXPECT_FALSE(norm_rows::is_narrow(320));
    EXPECT_TRUE(norm_rows::is_narrow(vector_level() == std::string("SCALAR") ? 4 : 16));
  });
}

// Without a gain, and with nobody who wants its gradient, x's is the same as with a gain of ones.
TEST(NormNarrow, WhatIsNotThereIsOneAndZero) {
  const std::vector<float> x = numbers(32, 1), dy = numbers(32, 2), ones(16, 1.0f);
  std::vector<float> with(32), without(32), dx_with(32), dx_without(32), dg(16);
  std::vector<Stats> stats(2);
  norm_rows::narrow_forward({2, 16}, true, 1e-5f, x.data(), ones.data(), nullptr, stats.data(), with.data());
  norm_rows::narrow_forward({2, 16}, true, 1e-5f, x.data(), nullptr, nullptr, stats.data(), without.data());
  EXPECT_EQ(with, without);
  norm_rows::narrow_backward({2, 16}, true, x.data(), ones.data(), stats.data(), dy.data(),
                             {dx_with.data(), false}, dg.data(), nullptr);
  norm_rows::narrow_backward({2, 16}, true, x.data(), nullptr, stats.data(), dy.data(),
                             {dx_without.data(), false}, nullptr, nullptr);
  EXPECT_EQ(dx_with, dx_without);
}

}  // namespace
}  // namespace tril
