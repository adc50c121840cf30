#include "tril/train/parallel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/train/ranks_testing.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

struct Losses {
  std::vector<double> steps;
  std::optional<Evaluation> validation;
};

Losses train(Trainer& trainer, const Corpus& corpus, int64_t steps) {
  Losses losses;
  for (int64_t step = 0; step < steps; ++step) losses.steps.push_back(trainer.step().loss);
  losses.validation = trainer.evaluate(corpus.validation(), 150);
  return losses;
}

Losses alone(const std::vector<std::string>& settings, int64_t steps) {
  Config config = small_run(settings);
  const Corpus corpus = corpus_for(config);
  Trainer trainer(config, corpus);
  return train(trainer, corpus, steps);
}

// The first rank's losses; the others follow it. `before` changes the first trainer.
Losses by_ranks(int count, const std::vector<std::string>& settings, int64_t steps) {
  Losses losses;
  together(count, [&](std::unique_ptr<Ranks> ranks) {
    Parallel parallel(std::move(ranks));
    Config config = small_run(settings);
    if (!parallel.leads()) return follow(parallel, {[&] { return config; }, {}});
    const Corpus corpus = corpus_for(config);
    parallel.lead_start(joint_start(asked_text(config), config, corpus));
    {
      Trainer trainer(config, corpus, nullptr, &parallel);
      losses = train(trainer, corpus, steps);
      EXPECT_EQ(trainer.sum_times().steps, steps);
    }
    parallel.end();
  });
  return losses;
}

void expect_same(const Losses& a, const Losses& b, const std::string& what) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t i = 0; i < a.steps.size(); ++i) EXPECT_NEAR(a.steps[i], b.steps[i], 1e-5) << what << " " << i;
  ASSERT_TRUE(a.validation && b.validation);
  EXPECT_EQ(a.validation->targets, b.validation->targets) << what;
  EXPECT_NEAR(a.validation->loss(), b.validation->loss(), 1e-5) << what;
}

const std::vector<std::string> kDecoder = {
    "model.family=decoder", "model.layers=2", "model.d_model=16", "model.hidden=32",          "model.heads=2",
    "model.context=12",     "train.batch=12", "train.clip=1",     "data.documents=blank-line"};

std::vector<std::string> decoder(std::vector<std::string> more) {
  more.insert(more.begin(), kDecoder.begin(), kDecoder.end());
  return more;
}

TEST(Parallel, RanksGiveTheLossesOfOne) {
  const std::vector<std::vector<std::string>> runs = {{},
                                                      {"train.clip=0.5", "train.weight_decay=0.1"},
                                                      decoder({}),
                                                      decoder({"model.tied=true", "train.optimizer=muon"}),
                                                      decoder({"train.recompute=true"}),
                                                      decoder({"train.freeze=token_embedding"})};
  for (const auto& settings : runs) {
    const Losses one = alone(settings, 8);
    const std::string what = settings.empty() ? "window" : settings.back();
    expect_same(by_ranks(2, settings, 8), one, what + " by 2");
    expect_same(by_ranks(4, settings, 8), one, what + " by 4");
  }
}

// Pieces of a part take the draws that their examples have in the whole one.
TEST(Parallel, DropoutAndAccumulationAreThoseOfOne) {
  const auto settings = decoder({"model.dropout=0.3", "train.accumulate=3", "train.recompute=true"});
  const Losses one = alone(settings, 6);
  expect_same(by_ranks(2, settings, 6), one, "by 2");
  expect_same(by_ranks(3, settings, 6), one, "by 3");
}

// Documents differ in length, so ranks have different numbers of targets.
TEST(Parallel, TargetsCountTheSameWhateverRankHasThem) {
  const auto settings = decoder({"train.batches=documents"});
  expect_same(by_ranks(3, settings, 6), alone(settings, 6), "documents");
}

TEST(Parallel, WhatCantBeSharedOutIsRefused) {
  Config config = small_run();
  EXPECT_NO_THROW(Parallel::require_shareable(config, 4));
  try {
    Parallel::require_shareable(config, 3);
    FAIL() << "not refused";
  } catch (const Refusal& refused) {
    EXPECT_STREQ(refused.what(), "train.batch 16 can't be shared out among 3 ranks: take a multiple of 3");
  }
  config.data.path = "-";
  EXPECT_THROW(Parallel::require_shareable(config, 2), Refusal);
}

// What rank 0 says of a second rank with these settings; the third is like the first.
std::string refusal_with(const std::vector<std::string>& settings) {
  std::string told;
  together(3, [&](std::unique_ptr<Ranks> ranks) {
    Parallel parallel(std::move(ranks));
    if (!parallel.leads())
      return follow(
          parallel,
          {[&] { return small_run(parallel.rank() == 1 ? settings : std::vector<std::string>{}); }, {}});
    Config config = small_run();
    const Corpus corpus = corpus_for(config);
    try {
      parallel.lead_start(joint_start(asked_text(config), config, corpus));
    } catch (const Refusal& refused) {
      told = refused.what();
    }
    parallel.end();
  });
  return told;
}

TEST(Parallel, ARankWithOtherSettingsIsNamedWithTheFirstThatDiffers) {
  EXPECT_EQ(refusal_with({}), "");
  EXPECT_EQ(refusal_with({"run.threads=1"}), "") << "threads are each rank's own";
  EXPECT_EQ(refusal_with({"train.learning_rate=0.5"}),
            "rank 1: other settings: train.learning_rate = 0.003 on rank 0, train.learning_rate = 0.5 here");
}

TEST(Parallel, ARankThatFailsIsToldByTheFirst) {
  EXPECT_EQ(refusal_with({"train.batch=0"}).rfind("rank 1: ", 0), 0U);
}

TEST(Parallel, OtherProgramsAndTextsAreFaults) {
  const JointStart here{"tril 1", "a = 1\n", "", "", "0123456789abcdefxyz"};
  JointStart there = here;
  EXPECT_EQ(start_fault(here, there), "");
  there.source = "f" + here.source;
  EXPECT_EQ(start_fault(here, there),
            "other data: SHA-256 f0123456789abcde on rank 0, 0123456789abcdef here");
  there.program = "tril 2";
  EXPECT_EQ(start_fault(here, there), "another program: tril 2 on rank 0, tril 1 here");
}

// An end before the start is heard by those that wait for it.
TEST(Parallel, FollowersLeaveWithAFirstThatNeverBegan) {
  together(3, [](std::unique_ptr<Ranks> ranks) {
    Parallel parallel(std::move(ranks));
    if (!parallel.leads()) return follow(parallel, {[] { return small_run(); }, {}});
    parallel.end();
  });
}

TEST(Parallel, AResultSaysWhatSumsTook) {
  together(2, [](std::unique_ptr<Ranks> ranks) {
    Parallel parallel(std::move(ranks));
    const auto told = ranks_json(parallel, {.steps = 4, .bytes = 400, .waited = 2});
    EXPECT_EQ(told["count"], 2);
    EXPECT_EQ(told["bytes_a_step"], 100);
    EXPECT_EQ(told["waited_a_step"], 0.5);
  });
}

}  // namespace
}  // namespace tril
