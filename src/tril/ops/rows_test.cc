#include "tril/ops/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

// Sizes 0 to two vectors of 16 lanes and one, from unaligned starts, against plain loops in double.
class Rows : public testing::Test {
 protected:
  static constexpr int kMax = 67;
  template <class Check>
  void sweep(const Check& check) {
    each_vector_level([&] { sweep_level(check); });
  }
  template <class Check>
  void sweep_level(const Check& check) {
    for (int n = 0; n <= kMax; ++n)
      for (int start = 0; start < 3; ++start) {
        std::vector<float> a(kMax + 3), b(kMax + 3), y(kMax + 3);
        for (int i = 0; i < kMax + 3; ++i) {
          a[i] = std::sin(0.7f * static_cast<float>(i + n));
          b[i] = std::cos(0.3f * static_cast<float>(i * i + n));
          y[i] = 0.25f * static_cast<float>(i % 7) - 1;
        }
        check(a.data() + start, b.data() + start, y.data() + start, n);
        for (int i = start + n; i < kMax + 3; ++i)  // nothing beyond the row is touched
          ASSERT_EQ(y[i], 0.25f * static_cast<float>(i % 7) - 1) << "n " << n;
      }
  }
};

TEST_F(Rows, Reductions) {
  sweep([](const float* a, const float* b, float*, int n) {
    double sum = 0, dot = 0, square = 0, exps = 0;
    float top = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < n; ++i) {
      sum += a[i];
      dot += double(a[i]) * b[i];
      square += double(a[i]) * a[i];
      exps += std::exp(double(a[i]) - 0.5);
      top = std::max(top, a[i]);
    }
    EXPECT_NEAR(rows::sum(a, n), sum, 1e-5);
    EXPECT_NEAR(rows::dot(a, b, n), dot, 1e-5);
    EXPECT_NEAR(rows::sum_squares(a, n), square, 1e-5);
    EXPECT_NEAR(rows::exp_sum_only(a, 0.5f, n), exps, 1e-4);
    EXPECT_EQ(rows::max(a, n), top);
  });
}

TEST_F(Rows, Maps) {
  const auto near = [&](auto apply, auto formula) {
    sweep([&](const float* a, const float* b, float* y, int n) {
      const std::vector<float> old(y, y + n);
      apply(a, b, y, n);
      for (int i = 0; i < n; ++i)
        ASSERT_NEAR(y[i], formula(a[i], b[i], old[i]), 2e-6) << "n " << n << " i " << i;
    });
  };
  using F = const float*;
  near([](F a, F, float* y, int n) { rows::scale(a, 3, y, n); },
       [](double a, double, double) { return 3 * a; });
  near([](F a, F, float* y, int n) { rows::accumulate(a, y, n); },
       [](double a, double, double y) { return y + a; });
  near([](F a, F, float* y, int n) { rows::axpy(2, a, y, n); },
       [](double a, double, double y) { return y + 2 * a; });
  near([](F a, F b, float* y, int n) { rows::add(a, b, y, n); },
       [](double a, double b, double) { return a + b; });
  near([](F a, F, float* y, int n) { rows::relu(a, y, n); },
       [](double a, double, double) { return a > 0 ? a : 0; });
  near([](F a, F b, float* y, int n) { rows::keep_positive(a, b, y, n); },
       [](double a, double b, double) { return a > 0 ? b : 0; });
  near([](F a, F b, float* y, int n) { rows::relu_backward(a, b, y, n); },
       [](double a, double b, double y) { return y + (a > 0 ? b : 0); });
  near([](F a, F b, float* y, int n) { rows::softmax_backward(a, b, 0.5f, y, n); },
       [](double a, double b, double y) { return y + a * (b - 0.5); });
  near([](F a, F, float* y, int n) { rows::axpy_exp(0.5f, a, 1, y, n); },
       [](double a, double, double y) { return y + 0.5 * std::exp(a - 1); });
  near([](F a, F, float* y, int n) { rows::exp_sum(a, 1, y, n); },
       [](double a, double, double) { return std::exp(a - 1); });
}

// Three rows of n numbers, 70 apart: out = 2 x·row; y += Σ w row; row += w x. Nothing else changes.
TEST_F(Rows, SeveralRowsAtADistance) {
  each_vector_level([&] {
    constexpr int kApart = 70, kRows = 3;
    const float w[kRows] = {0.5f, -1, 2};
    for (int n = 0; n <= kMax; ++n) {
      std::vector<float> x(kApart), matrix(kApart * kRows), y(kApart, 0.25f), out(kRows);
      for (int i = 0; i < kApart; ++i) x[i] = std::sin(0.7f * static_cast<float>(i));
      for (int i = 0; i < kApart * kRows; ++i) matrix[i] = std::cos(0.3f * static_cast<float>(i));
      rows::dots(x.data(), matrix.data(), kApart, kRows, n, 2, out.data());
      rows::combine(w, matrix.data(), kApart, kRows, n, y.data());
      std::vector<float> spread = matrix;
      rows::spread(w, x.data(), kApart, kRows, n, spread.data());
      for (int j = 0; j < kRows; ++j) {
        double dot = 0;
        for (int i = 0; i < n; ++i) dot += double(x[i]) * matrix[j * kApart + i];
        EXPECT_NEAR(out[j], 2 * dot, 1e-5) << n;
        for (int i = 0; i < kApart; ++i)
          EXPECT_NEAR(spread[j * kApart + i], matrix[j * kApart + i] + (i < n ? w[j] * x[i] : 0), 1e-6) << n;
      }
      for (int i = 0; i < kApart; ++i) {
        const double sum = 0.5 * matrix[i] - matrix[kApart + i] + 2.0 * matrix[2 * kApart + i];
        EXPECT_NEAR(y[i], 0.25 + (i < n ? sum : 0), 1e-6) << n;
      }
    }
  });
}

TEST_F(Rows, NotANumberIsSeenWhereverItStands) {
  each_vector_level([&] {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    for (int n = 1; n <= kMax; ++n)
      for (int at = 0; at < n; ++at) {
        std::vector<float> x(n, 1.0f);
        EXPECT_TRUE(rows::all_finite(x.data(), n));
        x[at] = nan;
        EXPECT_TRUE(std::isnan(rows::max(x.data(), n)));
        EXPECT_FALSE(rows::all_finite(x.data(), n));
        x[at] = -inf;
        EXPECT_FALSE(rows::all_finite(x.data(), n));
        EXPECT_EQ(rows::max(x.data(), n), n == 1 ? -inf : 1.0f);
      }
  });
}

// One step by hand: m = .1·2 = .2, v = .001·4 = .004; m̂ = .2/.1 = 2, v̂ = .004/.001 = 4;
// w = 1·(1 − .1·.5) − .1·2/(2 + 0) = .95 − .1 = .85.
TEST_F(Rows, AdamByHand) {
  each_vector_level([&] {
    const rows::AdamStep step{0.1f, 0.999f, 0, 0.1f, 0.001f, 0.95f, 0, 1, 0.1f, std::sqrt(0.001f)};
    for (int n = 1; n < 40; ++n) {
      std::vector<float> w(n, 1), g(n, 2), m(n, 0), v(n, 0);
      rows::adam(step, w.data(), g.data(), m.data(), v.data(), n);
      for (int i = 0; i < n; ++i) {
        ASSERT_NEAR(w[i], 0.85, 1e-5);
        ASSERT_NEAR(m[i], 0.2, 1e-6);
        ASSERT_NEAR(v[i], 0.004, 1e-7);
      }
    }
  });
}

}  // namespace
}  // namespace tril
