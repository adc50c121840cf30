#include "tril/train/loaded_run.h"

#include <gtest/gtest.h>

#include "tril/base/file.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

TEST(LoadedRun, OpensWithItsBestWeightsInEitherType) {
  TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "a");
  train_run(made, small_run());
  const LoadedRun best = load_run(folder / "a");
  EXPECT_EQ(best.step, RunFolder::view(folder / "a").best());
  EXPECT_TRUE(best.begins_with_bos);
  EXPECT_EQ(load_run(folder / "a", 12).step, 12);
  EXPECT_THROW(load_run(folder / "a", 3), Refusal);
  const LoadedRun exact = load_run(folder / "a", 12, {"reference", "f64"});
  EXPECT_EQ(exact.model->parameters().value(0).at(50),
            load_run(folder / "a", 12).model->parameters().value(0).at(50));
}

TEST(LoadedRun, APromptBeginsWithBosWhereTrainingDid) {
  TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "a");
  train_run(made, small_run({"train.steps=1"}));
  const LoadedRun run = load_run(folder / "a");
  EXPECT_EQ(prompt_ids(run, "").size(), 1u);
  EXPECT_EQ(prompt_ids(run, "the end")[0], *run.tokenizer->bos());
}

TEST(LoadedRun, ATokenizerThatDoesNotFitIsRefused) {
  TemporaryFolder folder;
  {
    RunFolder made = RunFolder::create(folder / "a");
    train_run(made, small_run({"train.steps=1"}));
    RunFolder other = RunFolder::create(folder / "b");
    train_run(other, small_run({"train.steps=1", "data.stories=30"}));
  }
  write_file_atomically(folder / "a/tokenizer.json", read_file(folder / "b/tokenizer.json"));
  EXPECT_THROW(load_run(folder / "a"), Refusal);
}

}  // namespace
}  // namespace tril
