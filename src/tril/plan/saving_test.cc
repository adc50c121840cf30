#include "tril/plan/saving.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tril/base/error.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

// Small and large: of the second, only a part is written.
TEST(PlanSaving, WritesARunsFilesAndLeavesNothing) {
  for (const Config& given : {small_run(), decoder({"model.d_model=512", "model.hidden=1024"})}) {
    Config config = given;
    const Corpus corpus = corpus_for(config);
    const TemporaryFolder folder;
    const SavingSpeed speed = measure_saving(Trainer(config, corpus), folder.path());
    EXPECT_GT(speed.file, 0);
    EXPECT_GT(speed.line, 0);
    EXPECT_GT(speed.checkpoint, 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(PlanSaving, APlaceWhereNothingCanBeWrittenIsRefused) {
  Config config = small_run();
  const Corpus corpus = corpus_for(config);
  EXPECT_THROW(measure_saving(Trainer(config, corpus), "/proc"), Refusal);
}

}  // namespace
}  // namespace tril
