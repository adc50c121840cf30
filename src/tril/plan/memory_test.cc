#include "tril/plan/memory.h"

#include <gtest/gtest.h>

#include <limits>

#include "tril/base/error.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

// 4 bytes a number; gradients are as many as weights, and Adam has two moments of each.
TEST(PlanMemory, ShapesGiveWeightsGradientsAndMoments) {
  Config config = small_run();
  config.model.vocab_size = 200;
  const MemoryPlan plan = plan_memory(config, 500);
  EXPECT_EQ(plan.gradients, plan.parameters);
  EXPECT_EQ(plan.moments, 2 * plan.parameters);
  EXPECT_GT(plan.parameters, 4 * 200 * 8);  // the token table alone
  EXPECT_GE(plan.total(), plan.resident + plan.parameters + plan.gradients + plan.moments + plan.activations +
                              plan.library);
}

// A plan of gigabytes takes none of them.
TEST(PlanMemory, PlanningAModelTakesNoMemoryOfItsSize) {
  Config config = decoder({"model.d_model=1024", "model.hidden=4096", "model.heads=8", "model.layers=24"});
  const MemoryPlan plan = plan_memory(config, 1000);
  EXPECT_GT(plan.parameters, int64_t{1} << 30);
  EXPECT_LT(plan_memory(decoder(), 1000).peak_so_far, plan.peak_so_far + (int64_t{64} << 20));
}

std::string refusal(const Config& config, int64_t machine) {
  try {
    require_memory(config, 1000, machine);
  } catch (const Refusal& refused) {
    return refused.what();
  }
  return "";
}

TEST(PlanMemory, WhatIsOverTheMachineIsRefusedWithBothNumbersAndWhatWouldFit) {
  const Config config = decoder({"train.batch=4096"});
  EXPECT_EQ(refusal(config, std::numeric_limits<int64_t>::max()), "");
  Config less = config;
  less.train.recompute = true;
  const int64_t room = plan_memory(less, 1000).total() + (int64_t{64} << 20);
  const std::string text = refusal(config, room);
  for (const char* part : {"training needs about ", "activations ", "and the machine has ",
                           "what fits: train.recompute = true (", "train.accumulate = ", "train.batch = "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  EXPECT_NE(refusal(config, 1000).find("no batch of it fits: take a smaller model"), std::string::npos);
}

}  // namespace
}  // namespace tril
