#include "tril/autograd/gradient_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tril {
namespace {

// f = x0² + 3 x1, so the gradient at (2, 5) is (4, 3).
TEST(GradientCheck, RightGradientPassesAndWrongOneIsNamed) {
  double x[] = {2, 5}, right[] = {4, 3}, wrong[] = {4, 2.5};
  const auto f = [&] { return x[0] * x[0] + 3 * x[1]; };
  const Tensor tx{{2}, DType::f64, x};
  EXPECT_LT(check_gradient(f, tx, {{2}, DType::f64, right}).relative(), 1e-9);
  const GradientCheck bad = check_gradient(f, tx, {{2}, DType::f64, wrong});
  EXPECT_NEAR(bad.worst, 0.5, 1e-9);
  EXPECT_EQ(bad.worst_at, 1);
  EXPECT_EQ(x[0], 2);  // put back
}

TEST(GradientCheck, KinksAreLeftOutAndCounted) {
  double x[] = {0.00001, 1}, slope[] = {1, 1};
  const auto f = [&] { return std::max(x[0], 0.0) + std::max(x[1], 0.0); };
  GradientCheckOptions options;
  options.kinks = [&] { return (x[0] > 0 ? 1u : 0u) + (x[1] > 0 ? 2u : 0u); };
  const GradientCheck check = check_gradient(f, {{2}, DType::f64, x}, {{2}, DType::f64, slope}, options);
  EXPECT_EQ(check.left_out, 1);
  EXPECT_EQ(check.compared, 1);
  EXPECT_LT(check.relative(), 1e-9);
}

TEST(GradientCheck, NotANumberFails) {
  double x[] = {1}, slope[] = {std::nan("")};
  const GradientCheck check =
      check_gradient([&] { return x[0]; }, {{1}, DType::f64, x}, {{1}, DType::f64, slope});
  EXPECT_FALSE(check.relative() < 1e-6);
}

// f = x⁵ at 0.01 with h = 1e-3: the second-order difference is off by 10 x² h² + h⁴ ≈ 1e-9 in 5e-8, the
// fourth-order by 4 h⁴ = 4e-12.
TEST(GradientCheck, AFourthOrderDifferenceDecidesWhereTheSecondIsTooCoarse) {
  double x[] = {0.01}, slope[] = {5e-8}, wrong[] = {5.1e-8};
  const auto f = [&] { return x[0] * x[0] * x[0] * x[0] * x[0]; };
  GradientCheckOptions options;
  options.h = 1e-3;
  const Tensor tx{{1}, DType::f64, x};
  EXPECT_GT(check_gradient(f, tx, {{1}, DType::f64, slope}, options).relative(), 1e-2);
  options.refine_above = 1e-6;
  EXPECT_LT(check_gradient(f, tx, {{1}, DType::f64, slope}, options).relative(), 1e-4);
  EXPECT_GT(check_gradient(f, tx, {{1}, DType::f64, wrong}, options).relative(), 1e-2);
}

// f = tanh(1000 x) at 0.0005 bends within 1e-3: with h = 1e-4 both differences are off, with h / 10 the
// fourth-order one is right.
TEST(GradientCheck, ATenthOfTheStepDecidesWhereTheFunctionBendsWithinIt) {
  double x[] = {0.0005};
  const double y = std::tanh(0.5), right = 1000 * (1 - y * y);
  double slope[] = {right}, wrong[] = {1.00001 * right};
  const auto f = [&] { return std::tanh(1000 * x[0]); };
  GradientCheckOptions options;
  const Tensor tx{{1}, DType::f64, x};
  EXPECT_GT(check_gradient(f, tx, {{1}, DType::f64, slope}, options).relative(), 1e-4);
  options.refine_above = 1e-7;
  EXPECT_LT(check_gradient(f, tx, {{1}, DType::f64, slope}, options).relative(), 1e-7);
  EXPECT_GT(check_gradient(f, tx, {{1}, DType::f64, wrong}, options).relative(), 5e-6);
}

// f = 1 + 1e-10 x: a slope of 1e-10 is less than what the rounding of f over h lets one see, and no error is
// told; one that is a thousand times as large is seen.
TEST(GradientCheck, RoundingOfTheFunctionIsNoError) {
  double x[] = {0.3}, slope[] = {1e-10}, wrong[] = {1e-7};
  const auto f = [&] { return 1 + 1e-10 * x[0]; };
  GradientCheckOptions options;
  options.refine_above = 1e-7;
  const Tensor tx{{1}, DType::f64, x};
  EXPECT_EQ(check_gradient(f, tx, {{1}, DType::f64, slope}, options).relative(), 0);
  EXPECT_GT(check_gradient(f, tx, {{1}, DType::f64, wrong}, options).relative(), 0.9);
}

}  // namespace
}  // namespace tril
