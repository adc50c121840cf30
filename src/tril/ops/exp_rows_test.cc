#include "tril/ops/exp_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

std::vector<float> numbers(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = 9 * std::sin(0.7f * static_cast<float>(i));
  return x;
}

TEST(ExpRows, EqualTheFormulaInDouble) {
  each_vector_level([] {
    for (int64_t n : {1, 15, 16, 17, 26, 32, 65}) {
      constexpr int64_t kRows = 3;
      const int64_t distance = rows::padded(n);
      const std::vector<float> x = numbers(kRows * distance);
      std::vector<float> y = x, top(kRows), sum(kRows);
      rows::exp_rows(y.data(), kRows, n, top.data(), sum.data());
      for (int64_t r = 0; r < kRows; ++r) {
        const float* row = x.data() + r * distance;
        EXPECT_EQ(top[r], *std::max_element(row, row + n));
        double total = 0;
        for (int64_t i = 0; i < distance; ++i) {
          const double e = i < n ? std::exp(double{row[i]} - double{top[r]}) : 0;
          ASSERT_NEAR(y[r * distance + i], e, 1e-6) << "n " << n << " row " << r << " at " << i;
          total += e;
        }
        ASSERT_NEAR(sum[r], total, 1e-5 * total);
      }
    }
  });
}

// The rest of its vector is no part of a row, whatever lies there; a NaN inside is.
TEST(ExpRows, ANaNSpreadsOverItsRowAlone) {
  each_vector_level([] {
    std::vector<float> x(3 * 16, 1.0f), top(3), sum(3);
    x[5] = x[16 + 3] = std::numeric_limits<float>::quiet_NaN();  // behind row 0, inside row 1
    rows::exp_rows(x.data(), 3, 5, top.data(), sum.data());
    EXPECT_EQ(sum[0], 5);
    EXPECT_TRUE(std::isnan(top[1]));
    EXPECT_EQ(sum[2], 5);
  });
}

TEST(ExpRows, ScalesWholeVectors) {
  each_vector_level([] {
    std::vector<float> x = numbers(2 * 32), y = x;
    const float a[] = {0.5f, -3};
    rows::scale_rows(a, y.data(), 2, 20);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], a[i / 32] * x[i]);
  });
}

TEST(ExpRows, AddsLogarithms) {
  each_vector_level([] {
    for (int64_t n : {0, 1, 7, 16, 35}) {
      std::vector<float> x(static_cast<size_t>(n)), y(x.size() + 1, 0.25f);
      for (size_t i = 0; i < x.size(); ++i) x[i] = 0.01f + 3 * static_cast<float>(i * i);
      rows::accumulate_log(x.data(), y.data(), n);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i], 0.25 + std::log(double{x[i]}), 1e-5);
      ASSERT_EQ(y.back(), 0.25f);
    }
  });
}

}  // namespace
}  // namespace tril
