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
  EXPECT_EQ(run_seconds(config, corpus, {.start = 2, .step = 0.5, .evaluation = 0.25}).total(),
            2 + 9 * 0.5 + 3 * all * 0.25);
  // A checkpoint each evaluation, at 1, 5 and 10; a line each step; four files; two samples.
  config.train.samples = 2;
  EXPECT_EQ(
      run_seconds(config, corpus, {.sample = 16, .saving = {.file = 0.25, .checkpoint = 8, .line = 0.125}})
          .total(),
      3 * 8 + 10 * 0.125 + 4 * 0.25 + 2 * 16);
}

// Steps 1, the last, and every multiple of either interval, each once.
TEST(PlanSpeed, CheckpointsAreCountedOnce) {
  for (const int64_t steps : {1, 2, 11, 12, 13, 60})
    for (const int64_t evaluations : {1, 2, 4, 100})
      for (const int64_t checkpoints : {0, 1, 3, 6, 100}) {
        TrainSettings t;
        t.steps = steps, t.eval_every = evaluations, t.checkpoint_every = checkpoints;
        int64_t count = 0;
        for (int64_t step = 1; step <= steps; ++step)
          count += step == 1 || step == steps || step % evaluations == 0 ||
                           (checkpoints > 0 && step % checkpoints == 0)
                       ? 1
                       : 0;
        EXPECT_EQ(checkpoints_of(t), count) << steps << " " << evaluations << " " << checkpoints;
      }
}

// The steps that fit into a run's own time are the run's.
TEST(PlanSpeed, ATimeGivesTheStepsThatTakeIt) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  const Speed speed{.start = 2, .step = 0.5, .evaluation = 0.001};
  config.train.eval_every = 100;
  for (const int64_t steps : {150, 1050, 20050}) {
    config.train.steps = steps;
    const double seconds = run_seconds(config, corpus, speed).total();
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
