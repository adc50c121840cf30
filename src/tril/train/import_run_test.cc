#include "tril/train/import_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tril/base/fault.h"
#include "tril/base/folder_testing.h"
#include "tril/base/interrupt.h"
#include "tril/formats/foreign_testing.h"
#include "tril/train/loaded_run.h"
#include "tril/train/loop.h"

namespace tril {
namespace {

class ImportRun : public testing::Test {
 protected:
  ForeignModel written(const ModelConfig& config = small_llama(270)) {
    const auto model = filled_model(config);
    ExportedModel out = exported(*model, *small_tokenizer());
    out.ends.ends = {269, 5};
    export_hf({out.name, *model, *small_tokenizer(), out.ends}, folder_ / "hf");
    return open_foreign_model(folder_ / "hf");
  }
  TemporaryFolder folder_;
};

TEST_F(ImportRun, IsARunWithOneCheckpoint) {
  const ForeignModel foreign = written();
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  {
    const RunFolder run = write_imported_run(folder_ / "run", foreign, *model);
    EXPECT_EQ(run.steps(), (std::vector<int64_t>{0}));
    EXPECT_EQ(run.best(), 0);
    EXPECT_EQ(run.last(), 0);
  }
  const LoadedRun loaded = load_run(folder_ / "run");
  EXPECT_EQ(loaded.step, 0);
  EXPECT_EQ(loaded.ends.ends, (std::vector<int32_t>{269, 5}));
  EXPECT_FALSE(loaded.begins_with_bos);
  EXPECT_EQ(loaded.config.model.kv_heads, 1);
  EXPECT_TRUE(loaded.imported);
  expect_same_weights(*model, *loaded.model);
}

// At every operation on files: the whole run, or nothing that resume could take for one.
TEST_F(ImportRun, AFailureLeavesNoRun) {
  const ForeignModel foreign = written();
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  const TestFolder memory("import_faults");
  fault::plan("");
  write_imported_run(memory.at("whole"), foreign, *model);
  const int64_t operations = fault::count();
  ASSERT_GT(operations, 20);
  int failed = 0;
  for (const char* effect : {"error", "full"}) {
    for (int64_t n = 1; n <= operations; ++n) {
      const std::string path = memory.at(fmt::format("{}-{}", effect, n));
      fault::plan(fmt::format("any:{}:{}", n, effect));
      const std::string told = refusal_of([&] { write_imported_run(path, foreign, *model); });
      fault::plan("");
      failed += told.empty() ? 0 : 1;
      if (told.empty()) {
        EXPECT_EQ(load_run(path).step, 0) << path;
      } else {
        EXPECT_FALSE(file_exists(path + "/config.toml") || folder_exists(path + "/checkpoints")) << path;
        EXPECT_EQ(refusal_of([&] { write_imported_run(path, foreign, *model); }), "") << path;
      }
    }
  }
  EXPECT_GT(failed, operations / 2);
}

TEST_F(ImportRun, AnInterruptLeavesNothing) {
  const ForeignModel foreign = written();
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  const interrupt::Guard guard;
  ::raise(SIGINT);
  EXPECT_THROW(write_imported_run(folder_ / "run", foreign, *model), Interrupted);
  EXPECT_THROW(load_foreign_model(foreign, DType::f32, INT64_MAX), Interrupted);
  interrupt::clear();
  EXPECT_EQ(list_folder(folder_.path()), (std::vector<std::string>{"hf"}));
}

// Heads may be wider or narrower than their share of the model's width.
TEST_F(ImportRun, HeadsOfAWidthOfTheirOwnCanBeOpenedAgain) {
  ModelConfig config = small_llama(270);
  config.d_model = 8, config.heads = 3, config.kv_heads = 1, config.d_k = config.d_v = 12;
  const ForeignModel foreign = written(config);
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  write_imported_run(folder_ / "run", foreign, *model);
  const LoadedRun loaded = load_run(folder_ / "run");
  EXPECT_EQ(loaded.config.model.d_k, 12);
  expect_same_weights(*model, *loaded.model);
}

TEST_F(ImportRun, SettingsThatNoRunCanHoldAreRefusedBeforeAnythingIsWritten) {
  ModelConfig config = small_llama(270);
  config.rope_theta = 1e13;
  const ForeignModel foreign = written(config);
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  const std::string told = refusal_of([&] { write_imported_run(folder_ / "run", foreign, *model); });
  EXPECT_TRUE(told.starts_with(foreign.path + ": no run can hold this model's settings:\nconfig.toml: "))
      << told;
  EXPECT_NE(told.find("model.rope_theta"), std::string::npos) << told;
  EXPECT_FALSE(folder_exists(folder_ / "run"));
}

TEST_F(ImportRun, CanNotBeTrainedFurther) {
  const ForeignModel foreign = written();
  const auto model = load_foreign_model(foreign, DType::f32, INT64_MAX);
  const std::string path = folder_ / "run";
  write_imported_run(path, foreign, *model);
  const auto resumed = [&] {
    RunFolder run = RunFolder::open(path);
    resume_run(run, std::nullopt, {});
  };
  EXPECT_EQ(refusal_of(resumed),
            path +
                ": was imported, so it has no training state and no text of its own: there is "
                "nothing to resume; train from it with: tril train --from " +
                path + " --data PATH; its loss over a text is told by: tril eval " + path + " --data PATH");
  for (const char* left : {"checkpoints", "last.json", "best.json"}) remove_path(path + "/" + left);
  EXPECT_EQ(refusal_of(resumed), path + ": its import was broken off; remove it, and import the model again");
}

}  // namespace
}  // namespace tril
