#include "tril/check/hand_worked.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril {
namespace {

TEST(HandWorked, EveryValuePassesAndIsShownWithItsShape) {
  const HandWorked example = check_hand_worked();
  ASSERT_EQ(example.values.size(), 10u);
  EXPECT_EQ(example.values[0].name, "X");
  EXPECT_EQ(example.values[6].name, "weights");
  EXPECT_EQ(example.values[6].shape, (Shape{1, 1, 4, 4}));
  for (const CheckRow& row : example.checks) EXPECT_TRUE(row.passed) << row.name << " " << row.value;
}

// The weights to three places, as they are known from the lesson.
TEST(HandWorked, WeightsToThreePlaces) {
  const double known[] = {1, 0, 0, 0, .330, .670, 0, 0, .248, .248, .503, 0, .152, .216, .355, .277};
  const std::vector<double> weights = check_hand_worked().values[6].data;
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(std::round(weights[i] * 1000), std::round(known[i] * 1000)) << i;
}

}  // namespace
}  // namespace tril
