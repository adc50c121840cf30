#include <gtest/gtest.h>

#include "tril/train/config.h"

namespace tril {
namespace {

// The settings of the published programs that a table in the documentation promises.
TEST(Presets, Settings) {
  const Config micro = preset_config("microgpt-16");
  EXPECT_EQ(micro.train.batch, 16);
  EXPECT_EQ(micro.run.engine, "fast");
  EXPECT_EQ(micro.train.seed, 42);
  EXPECT_EQ(micro.train.beta1, 0.85);
  EXPECT_EQ(preset_config("one-head-64").train.seed, 11);
  EXPECT_EQ(preset_config("gpt2-124m").train.seed, 0);
  EXPECT_EQ(preset_config("shakespeare-char-6").model.dropout, 0.2);
}

}  // namespace
}  // namespace tril
