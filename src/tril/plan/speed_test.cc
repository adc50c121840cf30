#include "tril/plan/speed.h"

#include <gtest/gtest.h>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

// 12 steps, an evaluation of 200 targets at steps 1, 5, 10 and 12, and the whole part at the end.
TEST(PlanSpeed, TheRunIsItsStepsAndItsEvaluations) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  const auto all = static_cast<double>(corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
  ASSERT_GT(all, 200);
  EXPECT_EQ(evaluated_targets(config, corpus), 4 * 200 + all);
  config.train.eval_examples = 0;
  EXPECT_EQ(evaluated_targets(config, corpus), 4 * all);
  config.train.steps = 1;
  EXPECT_EQ(evaluated_targets(config, corpus), all);
  config.train.steps = 10;  // the last step is one of the fives
  EXPECT_EQ(evaluated_targets(config, corpus), 3 * all);
  EXPECT_EQ(run_seconds(config, corpus, {.start = 2, .step = 0.5, .evaluation = 0.25}),
            2 + 10 * 0.5 + 3 * all * 0.25);
}

// The steps that fit into a run's own time are the run's.
TEST(PlanSpeed, ATimeGivesTheStepsThatTakeIt) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  const Speed speed{.start = 2, .step = 0.5, .evaluation = 0.001};
  config.train.eval_every = 100;
  for (const int64_t steps : {150, 1050, 20050}) {
    config.train.steps = steps;
    const double seconds = run_seconds(config, corpus, speed);
    config.train.steps = 1000000;
    EXPECT_NEAR(static_cast<double>(steps_in(config, corpus, speed, seconds)), static_cast<double>(steps), 2);
  }
  EXPECT_EQ(steps_in(config, corpus, speed, 0), 1);
  config.train.steps = 7;
  EXPECT_EQ(steps_in(config, corpus, speed, 1e6), 7);
}

TEST(PlanSpeed, MeasuredAndGuessedTimesArePositive) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  for (const Speed& speed : {measure_speed(config, corpus, 0.001), guess_speed(config)}) {
    EXPECT_GT(speed.step, 0);
    EXPECT_GT(speed.evaluation, 0);
  }
  EXPECT_GT(product_rate(), 0);
}

TEST(PlanSpeed, EveryEvaluationIsCountedWhereOneIsMadeAtEachStep) {
  Config config = small_run({"train.eval_every=1"});
  const Corpus corpus = corpus_for(config);
  const auto all = static_cast<double>(corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
  EXPECT_EQ(evaluated_targets(config, corpus), 12 * 200 + all);
}

}  // namespace
}  // namespace tril
