#include "tril/explore/trace.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tril/generate/next_logits.h"
#include "tril/train/train_testing.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

class TraceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    RunFolder made = RunFolder::create(*folder / "run");
    train_run(made, small_run({"model.heads=2"}));
    run = new LoadedRun(load_run(*folder / "run"));
  }
  static void TearDownTestSuite() {
    delete run;
    delete folder;
  }
  static TemporaryFolder* folder;
  static LoadedRun* run;
};
TemporaryFolder* TraceTest::folder = nullptr;
LoadedRun* TraceTest::run = nullptr;

const TracedValue& find(const Trace& traced, const std::string& name) {
  for (const TracedValue& value : traced.values)
    if (value.name == name) return value;
  throw std::runtime_error("no value " + name);
}

Trace of(const LoadedRun& run, std::vector<std::string> texts, const TraceOptions& options = {}) {
  return trace(run, texts, options);
}

// Context 6, width 8, two heads.
TEST_F(TraceTest, NamesAndShapes) {
  const Trace traced = of(*run, {"the"});
  EXPECT_EQ(traced.texts.at(0).tokens,
            (std::vector<std::string>{"<PAD>", "<PAD>", "<PAD>", "<PAD>", "<BOS>", "the"}));
  EXPECT_EQ(traced.texts[0].padding, 4);
  EXPECT_EQ(find(traced, "X").shape, (Shape{6, 8}));
  EXPECT_EQ(find(traced, "weights").shape, (Shape{2, 6, 6}));
  EXPECT_EQ(find(traced, "masked_scores").shape, (Shape{2, 6, 6}));
  EXPECT_EQ(find(traced, "contextual").shape, (Shape{6, 8}));
}

TEST_F(TraceTest, WeightsAreCausalAndIgnorePadding) {
  const Trace traced = of(*run, {"the"});
  const std::vector<double>& weights = find(traced, "weights").data;
  for (int64_t head = 0; head < 2; ++head) {
    double sum = 0;
    for (int64_t key = 0; key < 6; ++key) {
      sum += weights[static_cast<size_t>((head * 6 + 5) * 6 + key)];
      for (int64_t query = 0; query < key; ++query)
        EXPECT_EQ(weights[static_cast<size_t>((head * 6 + query) * 6 + key)], 0.0);
      if (key < 4) {  // padding
        EXPECT_EQ(weights[static_cast<size_t>((head * 6 + 5) * 6 + key)], 0.0);
      }
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

// What is explained is what ran: the traced logits are those that generation uses.
TEST_F(TraceTest, LogitsAreThoseOfGeneration) {
  const Trace traced = of(*run, {"the"}, {.names = {}, .top = 3, .numbers = true});
  const std::vector<double> expected = NextLogits(*run, false).after(prompt_ids(*run, "the"));
  const TracedValue& logits = find(traced, "logits");
  const size_t v = expected.size(), first = logits.data.size() - v;
  for (size_t i = 0; i < v; ++i) EXPECT_NEAR(logits.data[first + i], expected[i], 1e-5);
  const std::vector<Alternative>& next = traced.texts.at(0).next;
  ASSERT_EQ(next.size(), 3u);
  EXPECT_NEAR(next[0].probability, probabilities(expected)[static_cast<size_t>(next[0].id)], 1e-6);
  EXPECT_GE(next[0].probability, next[1].probability);
}

TEST_F(TraceTest, ABatchGivesEachTextItsOwnNumbers) {
  const Trace both = of(*run, {"the", "a"}), second = of(*run, {"a"});
  const std::vector<double>& all = find(both, "contextual").data;
  const std::vector<double>& one = find(second, "contextual").data;
  EXPECT_EQ(find(both, "weights").shape, (Shape{2, 2, 6, 6}));
  ASSERT_EQ(all.size(), 2 * one.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(all[one.size() + i], one[i], 1e-6);
  EXPECT_THROW(of(*run, {}), Refusal);
}

TEST_F(TraceTest, NamesPickValuesAndNumbersCanBeLeftOut) {
  const Trace picked = of(*run, {"the"}, {.names = {"weights", "Q"}, .top = 1, .numbers = true});
  ASSERT_EQ(picked.values.size(), 2u);
  EXPECT_EQ(picked.values[0].name, "Q");  // in the order of the computation
  EXPECT_EQ(picked.values[1].name, "weights");
  const Trace bare = of(*run, {"the"}, {.names = {}, .top = 1, .numbers = false});
  EXPECT_EQ(find(bare, "weights").shape, (Shape{2, 6, 6}));
  EXPECT_TRUE(find(bare, "weights").data.empty());
  EXPECT_THROW(of(*run, {"the"}, {.names = {"weight"}, .top = 1, .numbers = true}), Refusal);
}

TEST_F(TraceTest, ALongTextIsCutToItsEndAndUnknownWordsAreNamed) {
  testing::internal::CaptureStderr();
  const Trace traced = of(*run, {"the zorp the the the the the"});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("the text has 8 tokens, the model sees 6: it is read from token 3 on"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("'zorp' (word 2"), std::string::npos) << said;
  EXPECT_EQ(traced.texts.at(0).unknown, (std::vector<std::string>{"zorp"}));
  EXPECT_EQ(traced.texts[0].padding, 0);
  EXPECT_EQ(traced.texts[0].tokens.front(), "<UNK>");
}

// A preset's model at a size that trains in a moment; its blocks, heads and switches stay.
Config small_preset(const std::string& preset) {
  const Config whole = resolve(preset_config(preset));
  ConfigBuilder builder;
  builder.add_preset(preset);
  std::vector<std::string> settings = {
      "data.path=tales", "data.text=",
      "data.repeat=1",   "data.stories=30",
      "model.context=8", "model.hidden=8",
      "train.steps=1",   "train.batch=2",
      "train.samples=0", "model.d_model=" + std::to_string(4 * whole.model.heads)};
  if (whole.data.tokenizer != "char") settings.push_back("data.vocabulary=300");
  if (whole.model.family == "decoder") settings.push_back("train.block=8");
  for (const std::string& setting : settings) builder.set(setting);
  return builder.finish();
}

TEST(TracePresets, EveryBlocksValuesAreNamedAndListed) {
  const TemporaryFolder runs;
  for (const std::string& preset : preset_names()) {
    SCOPED_TRACE(preset);
    RunFolder made = RunFolder::create(runs / preset);
    train_run(made, small_preset(preset));
    const LoadedRun loaded = load_run(runs / preset);
    const ModelConfig& model = loaded.config.model;
    const Trace listed = of(loaded, {"the"}, {.names = {}, .top = 1, .numbers = false});
    std::vector<std::string> expected = {"X", "hidden", "logits"};
    if (model.family != "window_mlp")
      for (const char* name :
           {"Q", "K", "V", "scores", "masked_scores", "weights", "messages", "updates", "contextual"})
        expected.emplace_back(name);
    const auto length = static_cast<int64_t>(listed.texts[0].ids.size());
    for (int64_t block = 0; block < (model.family == "decoder" ? model.layers : 1); ++block)
      for (const std::string& name : expected) {
        const bool apart = model.family != "decoder" || name == "X" || name == "logits";
        const TracedValue& value = find(listed, apart ? name : fmt::format("blocks.{}.{}", block, name));
        if (name == "weights") {
          EXPECT_EQ(value.shape, (Shape{model.heads, length, length})) << value.name;
        }
      }
    const Trace whole = of(loaded, {"the"});
    ASSERT_EQ(whole.values.size(), listed.values.size());
    for (size_t i = 0; i < whole.values.size(); ++i) EXPECT_EQ(whole.values[i].name, listed.values[i].name);
  }
}

TEST(TraceBatch, AShorterTextIsFilledUpBehindAndSeesNothingOfIt) {
  const TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "run");
  train_run(made, small_run({"model.family=decoder", "model.heads=2", "model.layers=2"}));
  const LoadedRun loaded = load_run(folder / "run");
  const Trace both = of(loaded, {"the a the", "the"}), alone = of(loaded, {"the"});
  EXPECT_EQ(both.texts[0].filling, 0);
  EXPECT_EQ(both.texts[1].filling, 2);
  EXPECT_EQ(both.texts[1].tokens, (std::vector<std::string>{"the", "", ""}));
  const std::vector<double>&whole = find(both, "logits").data, &one = find(alone, "logits").data;
  const size_t text = whole.size() / 2;
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(whole[text + i], one[i], 1e-6);
  EXPECT_EQ(both.texts[1].next[0].id, alone.texts[0].next[0].id);
}

TEST(TraceBatch, AModelThatSeesAllTakesEquallyLongTextsAlone) {
  const TemporaryFolder folder;
  RunFolder made = RunFolder::create(folder / "run");
  train_run(made, small_run({"model.family=decoder", "model.mask=none"}));
  const LoadedRun loaded = load_run(folder / "run");
  EXPECT_EQ(of(loaded, {"the", "a"}).texts.size(), 2u);
  try {
    of(loaded, {"the a", "the"});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("the texts have 2 and 1 tokens"), std::string::npos)
        << refusal.what();
  }
}

}  // namespace
}  // namespace tril
