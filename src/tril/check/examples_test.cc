#include "tril/check/examples.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tril/model/registry.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

TEST(CheckExamples, FullWindowsHaveNoPaddingAndFirstOnesAreInOrder) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  const std::unique_ptr<Model> model = make_model(config.model, DType::f32);
  const Examples full = spread_examples(*model, corpus, 8, true);
  EXPECT_EQ(full.count, 8);
  EXPECT_EQ(std::count(full.ids.begin(), full.ids.end(), kPadId), 0);
  const Examples first = first_targets(*model, corpus, 3);
  EXPECT_EQ(first.targets,
            (std::vector<int32_t>(corpus.train().ids.begin() + 1, corpus.train().ids.begin() + 4)));
  EXPECT_EQ(first.padding(0), 5);  // a window of 6 with <BOS> alone
  EXPECT_EQ(first.text(), "3 windows of 6 tokens at the start of the training part");
  const Examples part = first.first_part(1);
  EXPECT_EQ(part.targets, (std::vector<int32_t>{first.targets[0]}));
  EXPECT_EQ(part.ids, std::vector<int32_t>(first.ids.begin(), first.ids.begin() + 6));
}

TEST(CheckExamples, ADecodersTargetsStandInOneBlock) {
  Config config = small_run({"model.family=decoder"});
  const Corpus corpus = corpus_for(config);
  const std::unique_ptr<Model> model = make_model(config.model, DType::f32);
  const Examples first = first_targets(*model, corpus, 4), part = first.first_part(2);
  EXPECT_EQ(first.text(), "1 block of 4 tokens at the start of the training part");
  EXPECT_EQ(first.targets,
            (std::vector<int32_t>(corpus.train().ids.begin() + 1, corpus.train().ids.begin() + 5)));
  EXPECT_EQ(part.ids, std::vector<int32_t>(first.ids.begin(), first.ids.begin() + 2));
  EXPECT_EQ(part.targets, std::vector<int32_t>(first.targets.begin(), first.targets.begin() + 2));
  EXPECT_EQ(spread_examples(*model, corpus, 2).text(), "2 blocks of 6 tokens spread over the training part");
}

}  // namespace
}  // namespace tril
