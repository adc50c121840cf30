// What the built-in tales promise of themselves as data: they hold dependencies that a short run of one head
// finds and a bigram can't.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tril/base/threads.h"
#include "tril/data/baselines.h"
#include "tril/data/corpus.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// docs/tales.md: PyTorch's run with the same seed comes to a validation loss of 2.441, the bigram to 2.796.
TEST(TalesTraining, OneHeadBeatsTheBigramBy15PercentOfPerplexity) {
  ConfigBuilder builder;
  builder.add_preset("one-head-smoke");
  Config config = builder.finish();
  const Corpus corpus =
      build_corpus(config.data, {.tokenizer = nullptr, .document_bounds = false, .announce = false});
  ASSERT_EQ(corpus.source.kind, "tales");
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const int threads_before = threads();
  set_threads(1);  // the same bits; no waiting for each other on a busy machine
  Trainer trainer(config, corpus);
  for (int64_t step = 0; step < config.train.steps; ++step) trainer.step();

  const double loss = trainer.evaluate(corpus.validation()).value().loss();
  set_threads(threads_before);
  const Baselines counted(documents_of(corpus.train()), config.model.vocab_size);
  const BaselineLosses baselines = counted.losses(documents_of(corpus.validation()));
  EXPECT_LE(std::exp(loss - baselines.bigram), 0.85) << "loss " << loss << ", bigram " << baselines.bigram;
  RecordProperty("loss", fmt::format("{:.4f}", loss));
}

}  // namespace
}  // namespace tril
