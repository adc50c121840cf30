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

std::vector<float> last_logits(const LoadedRun& run) {
  TapeOptions options;
  options.record = false;
  Tape tape(options);
  std::vector<int32_t> ids(static_cast<size_t>(run.config.model.context), 4);
  const Tensor batch{{1, static_cast<int64_t>(ids.size())}, DType::i32, ids.data()};
  const Tensor logits = run.model->forward(tape, batch, Rows::last).value();
  const auto values = logits.span<float>();
  return {values.begin(), values.end()};
}

// For inference weights are read where the file has them, and give the same bits as copies.
TEST(LoadedRun, InferenceReadsTheMappedFile) {
  TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "a");
  train_run(made, small_run({"train.steps=1"}));
  const LoadedRun copied = load_run(folder / "a"), mapped = load_run(folder / "a", 1, {}, Use::kInference);
  const std::string_view file = mapped.checkpoint->model().bytes();
  for (int i = 0; i < mapped.model->parameters().size(); ++i) {
    const auto* at = static_cast<const char*>(mapped.model->parameters().value(i).data);
    EXPECT_TRUE(at >= file.data() && at < file.data() + file.size()) << i;
  }
  EXPECT_EQ(last_logits(mapped), last_logits(copied));
  const LoadedRun wide = load_run(folder / "a", 1, {"reference", "f64"}, Use::kInference);
  EXPECT_EQ(wide.model->parameters().value(0).dtype, DType::f64);  // numbers of another type are converted
  EXPECT_EQ(wide.model->parameters().value(0).at(50), copied.model->parameters().value(0).at(50));
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
