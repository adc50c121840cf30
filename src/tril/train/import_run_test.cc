#include "tril/train/import_run.h"

#include <gtest/gtest.h>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/train/loaded_run.h"

namespace tril {
namespace {

class ImportRun : public testing::Test {
 protected:
  ForeignModel written() {
    const auto model = filled_model(small_llama(270));
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
    RunFolder run = RunFolder::create(folder_ / "run");
    write_imported_run(run, foreign, *model);
    EXPECT_EQ(run.steps(), (std::vector<int64_t>{0}));
    EXPECT_EQ(run.best(), 0);
    EXPECT_EQ(run.last(), 0);
  }
  const LoadedRun loaded = load_run(folder_ / "run");
  EXPECT_EQ(loaded.step, 0);
  EXPECT_EQ(loaded.ends.ends, (std::vector<int32_t>{269, 5}));
  EXPECT_FALSE(loaded.begins_with_bos);
  EXPECT_EQ(loaded.config.model.kv_heads, 1);
  expect_same_weights(*model, *loaded.model);
}

}  // namespace
}  // namespace tril
