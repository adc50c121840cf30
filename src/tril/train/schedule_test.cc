#include "tril/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril {
namespace {

TrainSettings of(const char* schedule, int64_t steps, int64_t warmup, double low = 0) {
  TrainSettings s;
  s.schedule = schedule;
  s.steps = steps;
  s.warmup = warmup;
  s.learning_rate = 1;
  s.min_learning_rate = low;
  return s;
}

// microgpt: lr · (1 − (step − 1)/steps).
TEST(Schedule, LinearWithoutWarmup) {
  const TrainSettings s = of("linear", 1000, 0);
  EXPECT_EQ(learning_rate_at(s, 1), 1);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 501), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 1000), 0.001);
}

// Warm-up 5, cosine to 20: steps 1…5 are 1/6 … 5/6, step 6 is the top, the middle of the fall is half way.
TEST(Schedule, WarmupThenCosine) {
  const TrainSettings s = of("cosine", 21, 5, 0.1);
  for (int step = 1; step <= 5; ++step) EXPECT_DOUBLE_EQ(learning_rate_at(s, step), step / 6.0);
  EXPECT_DOUBLE_EQ(learning_rate_at(s, 6), 1);
  EXPECT_NEAR(learning_rate_at(s, 14), 0.1 + 0.9 * 0.5, 1e-15);  // p = 8/16
  EXPECT_NEAR(learning_rate_at(s, 22), 0.1, 1e-15);
  EXPECT_NEAR(learning_rate_at(s, 100), 0.1, 1e-15);
}

TEST(Schedule, Trapezoid) {
  TrainSettings s = of("trapezoid", 10, 2);
  s.cooldown = 3;
  const double want[] = {1 / 3.0, 2 / 3.0, 1, 1, 1, 1, 1, 0.75, 0.5, 0.25};
  for (int step = 1; step <= 10; ++step) EXPECT_DOUBLE_EQ(learning_rate_at(s, step), want[step - 1]) << step;
}

TEST(Schedule, Constant) {
  EXPECT_EQ(learning_rate_at(of("constant", 5, 0), 1), 1);
  EXPECT_EQ(learning_rate_at(of("constant", 5, 0), 99), 1);
}

}  // namespace
}  // namespace tril
