#include "tril/ops/rows_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

// Every length from 0 to two vectors of 16 lanes and more, from unaligned starts, against the formula in
// double; nothing beyond the row may change. The arguments span −9 … 9.
class RowsMaps : public testing::Test {
 protected:
  template <class Apply, class Formula>
  void expect(const Apply& apply, const Formula& formula) {
    each_vector_level([&] { expect_level(apply, formula); });
  }
  template <class Apply, class Formula>
  void expect_level(const Apply& apply, const Formula& formula) {
    constexpr int kMax = 67;
    for (int n = 0; n <= kMax; ++n)
      for (int start = 0; start < 3; ++start) {
        std::vector<float> a(kMax + 3), b(kMax + 3), y(kMax + 3, 0.25f);
        for (int i = 0; i < kMax + 3; ++i) {
          a[i] = 9 * std::sin(0.7f * static_cast<float>(i + n));
          b[i] = std::cos(0.3f * static_cast<float>(i * i + n));
        }
        apply(a.data() + start, b.data() + start, y.data() + start, n);
        for (int i = 0; i < n; ++i) {
          const double want = formula(double{a[i + start]}, double{b[i + start]}, 0.25);
          ASSERT_NEAR(y[i + start], want, 1e-6 * std::max(1.0, std::fabs(want))) << "n " << n << " i " << i;
        }
        for (int i = start + n; i < kMax + 3; ++i) ASSERT_EQ(y[i], 0.25f) << "n " << n;
      }
  }
};

using F = const float*;

double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double inner(double x) {
  return std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
}
double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
// The derivative of f at x, by central differences.
template <class Function>
double slope(const Function& f, double x) {
  return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
}

TEST_F(RowsMaps, Products) {
  expect([](F a, F, float* y, int n) { rows::multiply(a, y, n); },
         [](double a, double, double y) { return y * a; });
  expect([](F a, F b, float* y, int n) { rows::multiply_add(a, b, y, n); },
         [](double a, double b, double y) { return y + a * b; });
}

TEST_F(RowsMaps, Norms) {
  expect([](F a, F, float* y, int n) { rows::normalize(a, 0.5f, 2, y, n); },
         [](double a, double, double) { return (a - 0.5) * 2; });
  expect([](F a, F b, float* y, int n) { rows::normalize_backward(a, b, 2, 0.25f, 0.125f, y, n); },
         [](double a, double b, double y) { return y + 2 * (b - 0.25 - 0.125 * a); });
  const std::vector<float> x = {1, 2, 3, 4, 5};  // around 3: 4 + 1 + 0 + 1 + 4
  EXPECT_EQ(rows::sum_squared_deviations(x.data(), 3, 5), 10);
  const std::vector<float> same(40, 2);
  EXPECT_EQ(rows::sum_squared_deviations(same.data(), 1, 37), 37);
}

TEST_F(RowsMaps, Activations) {
  const auto map = [&](auto forward, auto backward, auto f) {
    expect([&](F a, F, float* y, int n) { forward(a, y, n); },
           [&](double a, double, double) { return f(a); });
    expect([&](F a, F b, float* y, int n) { backward(a, b, y, n); },
           [&](double a, double b, double y) { return y + b * slope(f, a); });
  };
  map(rows::relu2, rows::relu2_backward, [](double x) { return x > 0 ? x * x : 0; });
  map(rows::gelu, rows::gelu_backward, [](double x) { return x * normal_below(x); });
  map(rows::gelu_tanh, rows::gelu_tanh_backward,
      [](double x) { return 0.5 * x * (1 + std::tanh(inner(x))); });
  map(rows::silu, rows::silu_backward, [](double x) { return x * sigmoid(x); });
  expect([](F a, F, float* y, int n) { rows::softcap(a, 5, y, n); },
         [](double a, double, double) { return 5 * std::tanh(a / 5); });
  expect([](F a, F b, float* y, int n) { rows::softcap_backward(b, 5, a, y, n); },
         [](double a, double b, double y) { return y + a * (1 - b * b / 25); });
}

// Far out the sigmoid inside is 0 or 1 and nothing overflows.
TEST_F(RowsMaps, LargeArguments) {
  each_vector_level([&] {
    const std::vector<float> x = {-3e4f, 3e4f, -200, 200, -100, 100};
    std::vector<float> y(6);
    for (auto* map : {rows::gelu, rows::gelu_tanh, rows::silu}) {
      map(x.data(), y.data(), 6);
      for (size_t i = 0; i < 6; ++i) ASSERT_NEAR(y[i], x[i] > 0 ? x[i] : 0, 1e-30);
    }
  });
}

}  // namespace
}  // namespace tril
