#include "tril/train/time_budget.h"

#include <gtest/gtest.h>

#include "tril/train/schedule.h"

namespace tril {
namespace {

// 100 minutes, of which 50, then 90 are spent by earlier programs: only then is it time.
TEST(TimeBudget, DecidesOnceFourFifthsAreSpent) {
  EXPECT_FALSE(TimeBudget(100, 50 * 60, 0).steps_left(5, 0).has_value());
  const auto left = TimeBudget(100, 90 * 60, 0).steps_left(5, 0);
  ASSERT_TRUE(left.has_value());
  EXPECT_GT(*left, 1);
}

TEST(TimeBudget, TheEndIsKeptFreeAndATimeThatIsOverGivesOneStep) {
  // half of the time goes to the last evaluation: 45 of 50 minutes are more than four fifths
  EXPECT_TRUE(TimeBudget(100, 45 * 60, 0).steps_left(5, 50 * 60).has_value());
  EXPECT_EQ(TimeBudget(1, 3600, 0).steps_left(5, 0), 1);
}

// Before the decision no rate depends on the number of steps, and after it the run is a plain one.
TEST(TimeBudget, TheDecisionChangesNoRateOfTheStepsBefore) {
  TrainSettings open;
  open.schedule = "trapezoid";
  open.steps = 1000000, open.cooldown = 200000, open.warmup = 10, open.minutes = 5;
  TrainSettings settled = open;
  settle(settled, 80, 20);
  EXPECT_EQ(settled.steps, 100);
  EXPECT_EQ(settled.cooldown, 20);
  EXPECT_EQ(settled.minutes, 0);
  for (int64_t step = 1; step <= 80; ++step)
    EXPECT_EQ(learning_rate_at(settled, step), learning_rate_at(open, step)) << step;
  EXPECT_LT(learning_rate_at(settled, 81), learning_rate_at(settled, 80));
  EXPECT_NEAR(learning_rate_at(settled, 100), settled.learning_rate / 21, 1e-12);
}

}  // namespace
}  // namespace tril
