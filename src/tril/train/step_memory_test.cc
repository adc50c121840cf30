#include "tril/train/step_memory.h"

#include <gtest/gtest.h>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

TEST(StepMemory, ActivationsFollowTheBatchAndItsParts) {
  const int64_t whole = step_bytes(decoder());
  EXPECT_NEAR(static_cast<double>(step_bytes(decoder({"train.batch=32"}))), static_cast<double>(whole) / 2,
              0.1 * static_cast<double>(whole));
  EXPECT_EQ(step_bytes(decoder({"train.accumulate=2"})), step_bytes(decoder({"train.batch=32"})));
  EXPECT_LT(step_bytes(decoder({"train.recompute=true"})), whole / 2);
  EXPECT_EQ(evaluation_bytes(decoder(), 0), 0);
  EXPECT_LT(evaluation_bytes(decoder(), 64), evaluation_bytes(decoder(), 100000));
}

// The first step takes what all others take: one block, asked for before it.
TEST(StepMemory, ATrainerHasItsMemoryBeforeTheFirstStep) {
  for (const std::string recompute : {"false", "true"}) {
    Config config = decoder({"train.recompute=" + recompute, "model.layers=3"});
    const Corpus corpus = corpus_for(config);
    Trainer trainer(config, corpus);
    const size_t held = trainer.activation_bytes();
    EXPECT_GE(held, static_cast<size_t>(step_bytes(config)));
    trainer.step();
    trainer.evaluate(corpus.validation(), 500);
    trainer.step();
    EXPECT_EQ(trainer.activation_bytes(), held) << recompute;
  }
}

}  // namespace
}  // namespace tril
