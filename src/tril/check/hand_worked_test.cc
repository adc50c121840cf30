#include "tril/check/hand_worked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace tril {
namespace {

TEST(HandWorked, EveryValuePassesAndIsShownWithItsShape) {
  const HandWorked example = check_hand_worked();
  ASSERT_EQ(example.values.size(), 14u);
  EXPECT_EQ(example.values[0].name, "X");
  EXPECT_EQ(example.values[10].name, "weights");
  EXPECT_EQ(example.values[10].shape, (Shape{1, 1, 4, 4}));
  for (const CheckRow& row : example.checks) EXPECT_TRUE(row.passed) << row.name << " " << row.value;
}

// A reader can follow each product from what is printed: Q = X W_Q and so on, and updates = messages W_O.
TEST(HandWorked, TheMatricesAreShownAsTheyAreMultiplied) {
  std::map<std::string, HandWorkedValue> values;
  for (const HandWorkedValue& value : check_hand_worked().values) values[value.name] = value;
  const auto product = [&](const std::string& x, const std::string& w, const std::string& y) {
    const Shape& shape = values[w].shape;
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t o = 0; o < shape[1]; ++o) {
        double sum = 0;
        for (int64_t k = 0; k < shape[0]; ++k)
          sum += values[x].data[static_cast<size_t>(i * shape[0] + k)] *
                 values[w].data[static_cast<size_t>(k * shape[1] + o)];
        EXPECT_NEAR(values[y].data[static_cast<size_t>(i * shape[1] + o)], sum, 1e-12) << y;
      }
  };
  product("X", "W_Q", "Q"), product("X", "W_K", "K"), product("X", "W_V", "V");
  product("messages", "W_O", "updates");
}

// The weights to three places, as they are known from the lesson.
TEST(HandWorked, WeightsToThreePlaces) {
  const double known[] = {1, 0, 0, 0, .330, .670, 0, 0, .248, .248, .503, 0, .152, .216, .355, .277};
  const std::vector<double> weights = check_hand_worked().values[10].data;
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(std::round(weights[i] * 1000), std::round(known[i] * 1000)) << i;
}

}  // namespace
}  // namespace tril
