#include "tril/formats/read_back.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

// Case 37, of the figure alone.
TEST(LogitDifference, IsNoneForEqualModelsAndTheirDistanceOtherwise) {
  ModelConfig config = small_gpt2(9);
  config.tied = false;
  const auto a = filled_model(config), b = filled_model(config);
  EXPECT_EQ(logit_difference(*a, *b).largest, 0);
  EXPECT_EQ(logit_difference(*a, *b).positions, config.context);
  // Twice the head, twice the logits: the difference is the largest logit itself.
  for (float& value : b->parameters().value(b->parameters().find("head.weight")).span<float>()) value *= 2;
  const LogitDifference found = logit_difference(*a, *b);
  EXPECT_GT(found.largest, 0);
  EXPECT_NEAR(std::max(1.0, found.largest), found.scale, 1e-6 * found.scale);
  for (float& value : b->parameters().value(0).span<float>()) value = NAN;
  EXPECT_TRUE(std::isnan(logit_difference(*b, *a).largest));
}

}  // namespace
}  // namespace tril
