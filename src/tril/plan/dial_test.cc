#include "tril/plan/dial.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/model/multiplies.h"
#include "tril/model/parameter_count.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

Config base() {
  ConfigBuilder builder;
  builder.add_preset("shakespeare-char");
  Config config = builder.finish();
  config.model.vocab_size = 1000;
  return config;
}

TEST(Dial, TheTextsSizeGivesTheTokenizer) {
  EXPECT_EQ(dial_tokenizer(0).kind, "char");
  EXPECT_EQ(dial_tokenizer(199999).kind, "char");
  EXPECT_EQ(dial_tokenizer(200000).vocabulary, 1024);
  EXPECT_EQ(dial_tokenizer(5000000).vocabulary, 4096);
  EXPECT_EQ(dial_tokenizer(50000000).vocabulary, 8192);
}

// The chosen size sees twenty targets for each parameter, and the next would not.
TEST(Dial, TheSizeIsTheLargestThatSeesTwentyTargetsForEachParameter) {
  const Config config = base();
  const auto seen_for_each = [&](size_t i, double multiplies) {
    ModelConfig m = config.model;
    const DialSize size = dial_sizes()[i];
    m.d_model = m.d_k = m.d_v = size.d_model, m.hidden = 4 * size.d_model;
    m.heads = m.kv_heads = size.heads, m.layers = size.layers;
    return multiplies / training_multiplies(m, config.train.block) / static_cast<double>(parameter_count(m));
  };
  EXPECT_EQ(dial_size(config, 1, 1), 0U);
  size_t before = 0;
  for (const double seconds : {1.0, 30.0, 600.0, 36000.0}) {
    const size_t size = dial_size(config, 2e10, seconds);
    EXPECT_GE(size, before);
    before = size;
    EXPECT_TRUE(size == 0 || seen_for_each(size, 2e10 * seconds) >= 20);
    EXPECT_TRUE(size + 1 == dial_sizes().size() || seen_for_each(size + 1, 2e10 * seconds) < 20);
  }
  EXPECT_GT(before, 0U);
  EXPECT_EQ(dial_size(config, 1e30, 1), dial_sizes().size() - 1);
}

TEST(Dial, EverySizeIsAModelThatTrains) {
  for (const DialSize& size : dial_sizes()) {
    EXPECT_EQ(size.d_model % size.heads, 0);
    EXPECT_EQ(size.d_model / size.heads % 2, 0);
  }
}

Config on_tales(const std::string& choices) {
  ConfigBuilder builder;
  builder.add_preset("shakespeare-char");
  builder.add_toml(choices, "--minutes");
  builder.set("data.path=tales");
  builder.set("data.stories=60");
  return builder.finish();
}

TEST(Dial, ChoosesARunThatIsWholeAndSaysWhy) {
  const Dialled dialled = dial(on_tales, 1000);
  const TrainSettings& t = dialled.config.train;
  EXPECT_EQ(t.minutes, 1000);
  EXPECT_EQ(t.schedule, "trapezoid");
  EXPECT_LE(t.eval_every, t.steps);
  EXPECT_EQ(dialled.config.model.vocab_size, dialled.corpus->tokenizer->vocab_size());
  EXPECT_EQ(dialled.why.size(), 5U);
  for (const char* word : {"text: ", "machine: ", "model: ", "steps: about "}) {
    bool found = false;
    for (const std::string& line : dialled.why) found = found || line.rfind(word, 0) == 0;
    EXPECT_TRUE(found) << word;
  }
}

TEST(Dial, ATimeTooShortForAnEvaluationIsRefusedWithWhatWouldDo) {
  try {
    dial(on_tales, 1e-6);
    FAIL() << "not refused";
  } catch (const Refusal& refused) {
    const std::string text = refused.what();
    EXPECT_NE(text.find("--minutes 1e-06 gives 0.0 s, which is too short: reading the text, 10 steps and one "
                        "evaluation take about "),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(" would do"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tril
