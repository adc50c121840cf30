#include "tril/generate/generate.h"

#include <gtest/gtest.h>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

// One small run for all tests here.
class GenerateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    RunFolder made = RunFolder::create(*folder / "run");
    train_run(made, small_run({"train.steps=60", "train.batch=64"}));
    run = new LoadedRun(load_run(*folder / "run"));
  }
  static void TearDownTestSuite() {
    delete run;
    delete folder;
  }
  static TemporaryFolder* folder;
  static LoadedRun* run;
};
TemporaryFolder* GenerateTest::folder = nullptr;
LoadedRun* GenerateTest::run = nullptr;

GenerateOptions options(double temperature, int64_t length = 30) {
  GenerateOptions o;
  o.rules.temperature = temperature;
  o.max_new_tokens = length;
  return o;
}

TEST_F(GenerateTest, GreedyIsTheSameEveryTimeAndSeedsDiffer) {
  EXPECT_EQ(generate(*run, "the", options(0)).text, generate(*run, "the", options(0)).text);
  const Generated a = generate(*run, "the", options(1)), b = generate(*run, "the", options(1));
  EXPECT_EQ(a.text, b.text);
  GenerateOptions other = options(1);
  other.seed = 1;
  EXPECT_NE(generate(*run, "the", other).continuation, a.continuation);
  EXPECT_NE(generate(*run, "the", options(1), 1).continuation, a.continuation);
}

TEST_F(GenerateTest, PaddingBosAndUnknownAreNeverGiven) {
  for (int64_t sample = 0; sample < 20; ++sample)
    for (const GeneratedToken& token : generate(*run, "the", options(5), sample).tokens)
      EXPECT_GT(token.id, 3) << token.text;
}

TEST_F(GenerateTest, UnknownWordsOfThePromptAreNamed) {
  testing::internal::CaptureStderr();
  const Generated out = generate(*run, "the zorp", options(0, 1));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(out.unknown, (std::vector<std::string>{"zorp"}));
  EXPECT_NE(said.find("warning: prompt word 'zorp' (word 2"), std::string::npos) << said;
  EXPECT_EQ(out.prompt_tokens, 3);  // BOS, the, <UNK>
}

TEST_F(GenerateTest, AnEmptyPromptBeginsAtBosAndALongOneIsCropped) {
  EXPECT_EQ(generate(*run, "", options(0, 3)).prompt_tokens, 1);
  const std::string long_prompt = "the the the the the the the the the the";
  EXPECT_EQ(generate(*run, long_prompt, options(0, 3)).prompt_tokens, 11);
}

// Case 30: the reason is reported, the stop text removed.
TEST_F(GenerateTest, StopTextsAndReasons) {
  const Generated free = generate(*run, "the", options(0));
  ASSERT_GT(free.tokens.size(), 3u);
  GenerateOptions stop = options(0);
  stop.stops = {free.continuation.substr(2, 4)};
  const Generated cut = generate(*run, "the", stop);
  EXPECT_EQ(cut.stopped, "stop");
  EXPECT_EQ(cut.continuation.find(stop.stops[0]), std::string::npos);
  EXPECT_EQ(generate(*run, "the", options(0, 2)).stopped, "length");
  GenerateOptions full = options(0);
  full.slide_on_full = false;
  const Generated stopped = generate(*run, "the", full);
  EXPECT_TRUE(stopped.stopped == "context" || stopped.stopped == "eos");
  EXPECT_LE(stopped.tokens.size(), 4u);  // BOS and "the" leave four of six places
}

TEST_F(GenerateTest, AlternativesAreTheLargestFirst) {
  GenerateOptions o = options(0, 1);
  o.top = 5;
  const Generated out = generate(*run, "the", o);
  ASSERT_EQ(out.tokens.at(0).alternatives.size(), 5u);
  for (size_t i = 1; i < 5; ++i)
    EXPECT_GE(out.tokens[0].alternatives[i - 1].probability, out.tokens[0].alternatives[i].probability);
}

TEST_F(GenerateTest, WhatIsStreamedIsWhatIsReturned) {
  std::string streamed;
  GenerateOptions o = options(1);
  o.on_text = [&](std::string_view piece) { streamed += piece; };
  EXPECT_EQ(generate(*run, "the", o).continuation, streamed);
}

}  // namespace
}  // namespace tril
