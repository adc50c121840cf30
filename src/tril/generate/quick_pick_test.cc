#include "tril/generate/quick_pick.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tril/generate/sampler.h"
#include "tril/ops/rows_testing.h"
#include "tril/tensor/draws.h"

namespace tril {
namespace {

std::vector<double> some_logits(size_t n, double spread, double shift) {
  std::vector<double> x(n);
  for (size_t i = 0; i < n; ++i) x[i] = shift + spread * std::sin(1 + 1.3 * static_cast<double>(i));
  return x;
}

// Where it says something, it says what the whole distribution says; and it is rarely silent.
TEST(QuickPick, IsThePickOfTheDistribution) {
  each_vector_level([] {
    int silent = 0, asked = 0;
    for (const size_t n : {16, 17, 27, 31, 65, 512})
      for (const double spread : {0.0, 1.0, 8.0, 300.0})
        for (const double temperature : {0.01, 0.5, 1.0, 3.0}) {
          std::vector<double> x = some_logits(n, spread, 5 * spread - 3);
          for (double& logit : x) logit = static_cast<float>(logit);
          const std::vector<float> floats(x.begin(), x.end());
          const std::vector<double> p = distribution(x, {.temperature = temperature}, {}, {});
          Draws draws(n);
          for (int i = 0; i < 50; ++i, ++asked) {
            const double u = draws.uniform();
            const int32_t id = quick_pick(x, temperature, u);
            const int32_t of_floats = quick_pick(floats, temperature, u);
            if (of_floats == kUnclear) {
              ++silent;
            } else {
              ASSERT_EQ(of_floats, pick(p, u)) << n << " ids, spread " << spread << ", u " << u;
            }
            if (id == kUnclear) {
              ++silent;
            } else {
              ASSERT_EQ(id, pick(p, u)) << n << " ids, spread " << spread << ", u " << u;
            }
          }
        }
    EXPECT_LT(silent, asked / 10);
  });
}

// Sixteen ids of equal weight have a border at each sixteenth.
TEST(QuickPick, SaysNothingAtABorder) {
  each_vector_level([] {
    const std::vector<double> x(16, 0.5);
    for (const double border : {0.25, 0.5, 0.75}) {
      const auto before = static_cast<int32_t>(16 * border) - 1;
      for (const double off : {-1e-7, 0.0, 1e-7}) EXPECT_EQ(quick_pick(x, 1, border + off), kUnclear);
      EXPECT_EQ(quick_pick(x, 1, border - 1e-4), before);
      EXPECT_EQ(quick_pick(x, 1, border + 1e-4), before + 1);
    }
    EXPECT_EQ(quick_pick(x, 1, std::nextafter(1.0, 0.0)), kUnclear);
    EXPECT_EQ(quick_pick(x, 1, 0), 0);
  });
}

TEST(QuickPick, LeavesBrokenAndManyLogitsToTheDistribution) {
  each_vector_level([] {
    using Limits = std::numeric_limits<double>;
    for (const double broken : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
      for (const size_t at : {0, 7, 8, 26}) {
        std::vector<double> x = some_logits(27, 1, 0);
        x[at] = broken;
        EXPECT_EQ(quick_pick(x, 1, 0.5), kUnclear) << at;
      }
    EXPECT_EQ(quick_pick(some_logits(513, 1, 0), 1, 0.5), kUnclear);
    EXPECT_EQ(quick_pick(std::vector<double>(), 1, 0.5), kUnclear);
    EXPECT_EQ(quick_pick(std::vector<double>(27, -Limits::max()), 1, 0.6), kUnclear);
    std::vector<double> x(9, 1);
    x[8] = 2;
    EXPECT_EQ(quick_pick(x, 1e-300, 0.5), 8);
  });
}

}  // namespace
}  // namespace tril
