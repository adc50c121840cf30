#include "tril/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/base/error.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

struct Made {
  Config config;
  Corpus corpus;
  Trainer trainer;
  explicit Made(const std::vector<std::string>& settings)
      : config(small_run(settings)), corpus(corpus_for(config)), trainer(config, corpus) {}
};

TEST(Trainer, StepsCountFromOneAndLossFalls) {
  Made made({});
  EXPECT_EQ(made.trainer.steps_done(), 0);
  const StepResult first = made.trainer.step();
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.targets, 16);
  StepResult last;
  for (int i = 0; i < 40; ++i) last = made.trainer.step();
  EXPECT_LT(last.loss, first.loss);
}

TEST(Trainer, FastFollowsTheReferenceInDouble) {
  Made fast({}), exact({"run.engine=reference", "run.dtype=f64"});
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(fast.trainer.step().loss, exact.trainer.step().loss, 1e-4);
}

// A head of over 2,048 rows sends its gradients back while its logits are there. What it sends is seen in the
// losses after the first.
TEST(Trainer, AHeadOfManyRowsFollowsTheReferenceInDouble) {
  const std::vector<std::string> small = {"model.family=decoder", "model.context=32", "train.block=32",
                                          "model.layers=1", "train.learning_rate=0.01"};
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"train.batch=70", "model.tied=false"},
           {"train.batch=70", "model.tied=true"},
           {"train.batch=70", "model.softcap=3"},
           {"train.batch=70", "train.recompute=true"},
           {"train.batch=210", "train.accumulate=3"},
           {"train.batch=70", "model.tied=false", "train.freeze=head"},
           {"train.batch=70", "model.tied=false", "train.freeze=token_embedding,blocks"}}) {
    std::vector<std::string> settings = small;
    settings.insert(settings.end(), more.begin(), more.end());
    Made fast(settings);
    settings.insert(settings.end(), {"run.engine=reference", "run.dtype=f64"});
    Made exact(settings);
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(fast.trainer.step().loss, exact.trainer.step().loss, 1e-5) << more.back() << " " << i;
  }
}

TEST(Trainer, StepsAfterTheSecondAskForNoMemory) {
  Made made({});
  made.trainer.step();
  made.trainer.step();
  const size_t held = made.trainer.activation_bytes();
  for (int i = 0; i < 5; ++i) made.trainer.step();
  EXPECT_EQ(made.trainer.activation_bytes(), held);
}

TEST(Trainer, EvaluationTakesTheStepsOwnMemory) {
  Made made({"train.batch=64"});
  made.trainer.step();
  made.trainer.step();
  const size_t held = made.trainer.activation_bytes();
  ASSERT_TRUE(made.trainer.evaluate(made.corpus.validation(), 16).has_value());
  EXPECT_EQ(made.trainer.activation_bytes(), held);
  const StepResult after = made.trainer.step();
  EXPECT_TRUE(std::isfinite(after.loss));
  EXPECT_EQ(made.trainer.activation_bytes(), held);
}

TEST(Trainer, FrozenPrefixesStayAndUnknownOnesAreRefused) {
  Made made({"train.freeze=token_embedding,W_"});
  const Parameters& p = made.trainer.model().parameters();
  const double token = p.value(0).at(20), query = p.value(p.find("W_Q.weight")).at(0),
               head = p.value(p.find("vocab_head.weight")).at(0);
  for (int i = 0; i < 3; ++i) made.trainer.step();
  EXPECT_EQ(p.value(0).at(20), token);
  EXPECT_EQ(p.value(p.find("W_Q.weight")).at(0), query);
  EXPECT_NE(p.value(p.find("vocab_head.weight")).at(0), head);
  EXPECT_THROW(Made({"train.freeze=nonsense"}), Refusal);
  for (const char* empty : {",", ",,,", "W_,", ",W_", "W_,,token_embedding"})
    EXPECT_THROW(Made({"train.freeze=" + std::string(empty)}), Refusal) << empty;
}

// Blocks run again in backward drop what they dropped before, also in each part of an accumulated batch.
TEST(Trainer, RecomputeGivesTheSameBitsInLessMemory) {
  std::vector<std::string> settings = {"model.family=decoder", "model.layers=4",  "model.dropout=0.2",
                                       "train.accumulate=2",   "train.batch=512", "train.clip=1"};
  Made kept(settings);
  settings.emplace_back("train.recompute=true");
  Made again(settings);
  for (int i = 0; i < 4; ++i) {
    const StepResult a = kept.trainer.step(), b = again.trainer.step();
    EXPECT_EQ(a.loss, b.loss);
    EXPECT_EQ(a.gradient_norm, b.gradient_norm);
  }
  const Tensor a = kept.trainer.model().parameters().flat_values(),
               b = again.trainer.model().parameters().flat_values();
  for (int64_t i = 0; i < a.count(); ++i) ASSERT_EQ(a.at(i), b.at(i));
  EXPECT_LT(again.trainer.activation_bytes(), kept.trainer.activation_bytes());
}

TEST(Trainer, WhatIsNotBuiltIsRefusedAndNotPassedOver) {
  for (const char* setting : {"train.recompute=true"}) EXPECT_THROW(Made({setting}), Refusal) << setting;
}

}  // namespace
}  // namespace tril
