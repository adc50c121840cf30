#include "tril/train/size_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "tril/base/error.h"
#include "tril/train/config.h"

namespace tril {
namespace {

TEST(SizeCheck, CountsWeightsAndActivations) {
  Config config = resolve(preset_config("one-head-smoke"));
  config.model.vocab_size = 1500;
  // 331,132 parameters, four values each; 256 windows: value and gradient of four vectors of 48 for each of
  // 12 tokens, five for the last query, the hidden layer twice, the logits
  const int64_t window = 2 * (12 * 4 * 48 + 5 * 48 + 2 * 160 + 1500) * 4;
  EXPECT_EQ(least_training_bytes(config), 331132 * 16 + 256 * window);
  config.train.accumulate = 3;  // the largest part has 86 windows
  EXPECT_EQ(least_training_bytes(config), 331132 * 16 + 86 * window);
}

TEST(SizeCheck, RefusesWithBothNumbers) {
  Config config = resolve(preset_config("gpt2-124m"));
  config.model.vocab_size = 50257;
  EXPECT_NO_THROW(refuse_oversize(config, int64_t{64} << 30));
  try {
    refuse_oversize(config, 1000000000);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(
        refusal.what(),
        "this model has 124,439,808 parameters; training it in batches of 4 needs at least 2.7 GB, and the "
        "machine has 1.0 GB");
  }
  config.model.d_model = config.model.d_k = config.model.d_v = int64_t{1} << 40;
  EXPECT_EQ(least_training_bytes(config), std::numeric_limits<int64_t>::max());
  EXPECT_THROW(refuse_oversize(config, std::numeric_limits<int64_t>::max() - 1), Refusal);
}

}  // namespace
}  // namespace tril
