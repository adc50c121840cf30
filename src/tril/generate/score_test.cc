#include "tril/generate/score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>

#include "tril/base/interrupt.h"
#include "tril/generate/generate.h"
#include "tril/generate/next_logits.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

// The chain rule: a text's score is the sum of its tokens' log-probabilities, each from NextLogits.
// Case 16: every target once.
TEST(Score, IsTheSumOverPrefixes) {
  TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "run");
  train_run(made, small_run());
  const LoadedRun opened = load_run(folder / "run"), *run = &opened;
  const std::string text = "the girl was happy . the end";
  const Score s = score(*run, text);
  const std::vector<int32_t> ids = prompt_ids(*run, text);
  ASSERT_EQ(s.tokens.size(), ids.size() - 1);
  double nats = 0;
  for (size_t i = 1; i < ids.size(); ++i)
    nats -= std::log(
        probabilities(NextLogits(*run, false).after(std::span(ids).first(i)))[static_cast<size_t>(ids[i])]);
  EXPECT_NEAR(s.nats, nats, 1e-4);
  EXPECT_NEAR(s.bits_per_byte(), nats / std::log(2.0) / static_cast<double>(text.size()), 1e-5);
  EXPECT_THROW(score(*run, ""), Refusal);
  EXPECT_TRUE(s.unknown.empty() || s.unknown[0] != "zqx");
  EXPECT_EQ(score(*run, "zqx").unknown, (std::vector<std::string>{"zqx"}));
  const interrupt::Guard guard;  // a long text is left at once
  std::raise(SIGINT);
  EXPECT_THROW(score(*run, text), Interrupted);
  interrupt::clear();
}

}  // namespace
}  // namespace tril
