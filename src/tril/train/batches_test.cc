#include "tril/train/batches.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/data/windows.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

Corpus corpus_of(const Config& config, bool bounds = false) {
  CorpusOptions options;
  options.document_bounds = bounds;
  options.announce = false;
  return build_corpus(config.data, options);
}

std::vector<int32_t> numbers(const Tensor& t) {
  return {t.as<int32_t>(), t.as<int32_t>() + t.count()};
}

// The targets are randint(0, targets, (batch,)) from a generator seeded seed + 10000.
TEST(Batches, WindowsFollowTheirOwnGenerator) {
  const Config config = small_run({"train.seed=11"});
  const Corpus corpus = corpus_of(config);
  TorchGenerator weights(11);
  const auto batches = make_batches(config, corpus, weights);
  const Windows windows(corpus.train(), config.model.context, kPadId);
  TorchGenerator same(10011);
  for (int step = 0; step < 3; ++step) {
    std::vector<int64_t> which(16);
    same.randint(std::span<int64_t>(which), 0, windows.targets());
    const Batch batch = batches->next();
    EXPECT_EQ(batch.ids.shape, (Shape{16, 6}));
    for (int64_t i = 0; i < 16; ++i)
      EXPECT_EQ(batch.targets.at(i), windows.target(which[static_cast<size_t>(i)]));
  }
}

// "abc" × 20 in blocks of 8: starts are randint(0, 51, (16,)), and y is x one later.
TEST(Batches, BlocksGoOnFromTheWeightsGenerator) {
  Config config = small_run();
  config.data = {};
  config.data.text = "abc", config.data.repeat = 20, config.data.split = "none",
  config.data.tokenizer = "char";
  config.data.documents = "whole";
  config.model.family = "decoder";
  config.train.block = 8, config.train.batch = 16;
  const Corpus corpus = corpus_of(config);
  TorchGenerator weights(3), same(3);
  const auto batches = make_batches(config, corpus, weights);
  const Batch batch = batches->next();
  std::vector<int64_t> starts(16);
  same.randint(std::span<int64_t>(starts), 0, 51);
  for (int64_t b = 0; b < 16; ++b) {
    for (int64_t i = 0; i < 8; ++i) {
      EXPECT_EQ(batch.ids.at(b * 8 + i), (starts[static_cast<size_t>(b)] + i) % 3);
      EXPECT_EQ(batch.targets.at(b * 8 + i), (starts[static_cast<size_t>(b)] + i + 1) % 3);
    }
  }
  EXPECT_EQ(weights, same);
}

std::string refusal_of(const Config& config, const Corpus& corpus) {
  TorchGenerator weights(3);
  try {
    make_batches(config, corpus, weights);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

// Case 14: 60 tokens give as many batches of 10 blocks of 20 as are asked for, since blocks are drawn and may
// overlap; what gives no example at all is refused before training, with the numbers.
TEST(Batches, ThereIsNoTextOfZeroBatches) {
  Config config = small_run();
  config.data = {};
  config.data.text = "0123456789", config.data.repeat = 6, config.data.split = "none";
  config.data.tokenizer = "char", config.data.documents = "whole";
  config.model.family = "decoder";
  config.train.block = 20, config.train.batch = 10;
  const Corpus corpus = corpus_of(config);
  TorchGenerator weights(3);
  const auto batches = make_batches(config, corpus, weights);
  for (int step = 0; step < 50; ++step) {
    const Batch batch = batches->next();
    ASSERT_EQ(batch.ids.shape, (Shape{10, 20}));
    const std::vector<int32_t> ids = numbers(batch.ids), targets = numbers(batch.targets);
    for (size_t i = 0; i < 200; ++i) ASSERT_EQ(targets[i], (ids[i] + 1) % 10);
  }
  config.train.block = 60;
  EXPECT_EQ(refusal_of(config, corpus),
            "the training part: 60 tokens, needs 61 (a block of 60 and its last target); use more text, or a "
            "context of at most 59");
  EXPECT_NE(refusal_of(config, Corpus()), "");
  config.model.family = "window_attention";
  EXPECT_EQ(refusal_of(config, Corpus()), "the training part has no target: no word to train on");
  EXPECT_THROW(make_document_batches(config, corpus, {}), Refusal);
}

// Documents between two BOS (the last id, 3), cut to the block, one after another in one row without padding.
TEST(Batches, DocumentsComeInOrderAndRoundAgain) {
  Config config = small_run();
  config.data = {};
  config.data.text = "ab\nc\nabcabc\n", config.data.split = "none", config.data.tokenizer = "char";
  config.data.documents = "line";
  config.train.block = 4, config.train.batch = 2;
  const Corpus corpus = corpus_of(config, true);
  const auto batches = make_document_batches(config, corpus, {0, 1, 2});
  Batch first = batches->next();
  EXPECT_EQ(first.ids.shape, (Shape{1, 5}));
  EXPECT_EQ(numbers(first.ids), (std::vector<int32_t>{3, 0, 1, 3, 2}));
  EXPECT_EQ(numbers(first.targets), (std::vector<int32_t>{0, 1, 3, 2, 3}));
  EXPECT_EQ(numbers(first.lengths), (std::vector<int32_t>{3, 2}));
  Batch second = batches->next();
  EXPECT_EQ(numbers(second.ids),
            (std::vector<int32_t>{3, 0, 1, 2, 3, 0, 1}));  // cut to four, then "ab" again
  EXPECT_EQ(numbers(second.lengths), (std::vector<int32_t>{4, 3}));
  const std::string state = batches->state();
  const std::vector<int32_t> third = numbers(batches->next().ids);
  const auto other = make_document_batches(config, corpus, {0, 1, 2});
  other->set_state(state);
  EXPECT_EQ(numbers(other->next().ids), third);
  EXPECT_THROW(other->set_state("-1"), Refusal);
  EXPECT_THROW(other->set_state("x"), Refusal);
}

TEST(Batches, TheStateBringsBackTheNextBatch) {
  const Config config = small_run();
  const Corpus corpus = corpus_of(config);
  TorchGenerator weights(1);
  const auto a = make_batches(config, corpus, weights), b = make_batches(config, corpus, weights);
  a->next();
  b->set_state(a->state());
  EXPECT_EQ(numbers(a->next().ids), numbers(b->next().ids));
}

}  // namespace
}  // namespace tril
