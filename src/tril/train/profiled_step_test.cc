#include "tril/train/profiled_step.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>
#include <set>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

// The trace as a reader of Chrome's format sees it: every op lies inside the step, ops of the two directions
// are there, and together they are most of the step.
TEST(ProfiledStep, OpsLieInsideTheStepAndCoverMostOfIt) {
  Config config = small_run({"model.d_model=64", "model.hidden=256", "train.batch=512"});
  const Corpus corpus = corpus_for(config);
  Trainer trainer(config, corpus);
  for (int i = 0; i < 3; ++i) trainer.step();
  const ProfiledStep profiled = profiled_step(trainer);
  EXPECT_EQ(profiled.result.step, 4);

  const auto trace = nlohmann::json::parse(profiled.trace);
  double step_start = 0, step_end = 0, covered = 0;
  std::set<std::string> names;
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("name") == "step 4") {
      step_start = event.at("ts").get<double>();
      step_end = step_start + event.at("dur").get<double>();
    }
  ASSERT_GT(step_end, step_start);
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    const double start = event.at("ts").get<double>(), length = event.at("dur").get<double>();
    EXPECT_GE(start, step_start) << event;
    EXPECT_LE(start + length, step_end + 1e-3) << event;
    const std::string kind = event.at("cat");
    if (kind != "forward" && kind != "backward") continue;
    names.insert(kind + " " + event.at("name").get<std::string>());
    EXPECT_NE(event.at("args").at("shapes"), "") << event;
    covered += length;  // no op of this model is inside another
  }
  EXPECT_GT(covered, (step_end - step_start) / 2);
  for (const char* name : {"forward embedding", "forward linear", "forward attention", "forward relu",
                           "forward linear_cross_entropy", "backward linear_cross_entropy", "backward linear",
                           "backward attention", "backward embedding"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_NE(profiled.dearest.find("linear"), std::string::npos);
  EXPECT_EQ(std::count(profiled.dearest.begin(), profiled.dearest.end(), '\n'), 6);  // a header, five ops
}

TEST(ProfiledStep, TheStepIsTheSameWithAndWithoutAProfile) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  Trainer plain(config, corpus), watched(config, corpus);
  for (int i = 0; i < 3; ++i) {
    const StepResult a = plain.step(), b = profiled_step(watched).result;
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.gradient_norm, b.gradient_norm);
  }
}

}  // namespace
}  // namespace tril
