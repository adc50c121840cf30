#include "tril/check/examples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tril/model/registry.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

TEST(CheckExamples, FullWindowsHaveNoPaddingAndFirstOnesAreInOrder) {
  Config config = small_run();
  CorpusOptions quiet;
  quiet.announce = false;
  const Corpus corpus = build_corpus(config.data, quiet);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const std::unique_ptr<Model> model = make_model(config.model, DType::f32);
  const Examples full = spread_examples(*model, corpus, 8, true);
  EXPECT_EQ(full.count, 8);
  EXPECT_EQ(std::count(full.ids.begin(), full.ids.end(), kPadId), 0);
  const Examples first = first_examples(*model, corpus, 3);
  EXPECT_EQ(first.targets,
            (std::vector<int32_t>(corpus.train().ids.begin() + 1, corpus.train().ids.begin() + 4)));
}

}  // namespace
}  // namespace tril
