// trace by the program itself: its document, its text, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

class TraceProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    train("run", {});
  }
  static void TearDownTestSuite() { delete folder_; }
  static void train(const std::string& name, const std::vector<std::string>& settings) {
    std::vector<std::string> words = {"train",   "one-head-smoke", "--out", *folder_ / name,
                                      "--quiet", "--steps",        "6"};
    std::vector<std::string> all = {"data.stories=60",  "train.batch=16",  "train.eval_every=3",
                                    "model.d_model=16", "model.hidden=24", "data.vocabulary=300"};
    all.insert(all.end(), settings.begin(), settings.end());
    for (const std::string& setting : all) words.insert(words.end(), {"--set", setting});
    const ProgramResult trained = run_program(words);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  static std::string run() { return *folder_ / "run"; }
  static ProgramResult trace(std::vector<std::string> more) {
    more.insert(more.begin(), {"trace", run()});
    return run_program(more);
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* TraceProgram::folder_ = nullptr;

TEST_F(TraceProgram, TheDocumentHoldsEveryNamedValue) {
  const ProgramResult result = trace({"--text", "once there was a", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  for (const char* name : {"X", "Q", "K", "V", "scores", "masked_scores", "weights", "messages", "updates",
                           "contextual", "hidden", "logits"})
    EXPECT_TRUE(json["values"].contains(name)) << name;
  EXPECT_EQ(json["values"]["weights"]["shape"], Json::parse("[1, 12, 12]"));
  ASSERT_EQ(json["values"]["weights"]["data"].size(), 144u);
  EXPECT_EQ(json["values"]["weights"]["data"][1].get<double>(), 0.0);  // row 0 on column 1
  EXPECT_EQ(json["values"]["masked_scores"]["data"][1].get<std::string>(), "-Infinity");
  EXPECT_EQ(json["values"]["weights"]["data"][143 - 12].get<double>(), 0.0);  // row 10 on column 11
  EXPECT_EQ(json["values"]["masked_scores"]["data"][143 - 12].get<std::string>(), "-Infinity");
  EXPECT_TRUE(json["values"]["scores"]["data"][143 - 12].is_number());
  ASSERT_EQ(json["tokens"][0].size(), 12u);
  EXPECT_EQ(json["tokens"][0][11]["text"], "a");
  EXPECT_EQ(json["padding"][0].get<int>(), 7);  // BOS and four words
  EXPECT_EQ(json["next"][0].size(), 5u);
}

TEST_F(TraceProgram, OneValueTheListAndTheNearestName) {
  EXPECT_EQ(Json::parse(trace({"--text", "a", "--value", "Q", "--json"}).out)["values"].size(), 1u);
  EXPECT_THAT(trace({"--list"}).out, HasSubstr("masked_scores"));
  EXPECT_THAT(trace({"--text", "a", "--value", "wieghts"}).err, HasSubstr("the nearest is 'weights'"));
  EXPECT_THAT(trace({"--text", "once upon", "--value", "weights"}).out, HasSubstr("[weights]"));
}

TEST_F(TraceProgram, ItForeseesWhatGenerateForesees) {
  const Json traced = Json::parse(trace({"--text", "once there was a", "--top", "3", "--json"}).out);
  const Json made = Json::parse(run_program({"generate", run(), "--prompt", "once there was a", "--greedy",
                                             "--max-new-tokens", "1", "--top", "3", "--json"})
                                    .out);
  const Json& others = made["tokens"][0]["alternatives"];
  ASSERT_EQ(traced["next"][0].size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(traced["next"][0][i]["id"], others[i]["id"]);
    EXPECT_NEAR(traced["next"][0][i]["probability"].get<double>(), others[i]["probability"].get<double>(),
                1e-6);
  }
}

TEST_F(TraceProgram, ValuesArePickedAndListed) {
  EXPECT_EQ(
      Json::parse(trace({"--text", "a", "--value", "Q", "--value", "K", "--json"}).out)["values"].size(), 2u);
  const ProgramResult wrong = trace({"--text", "a", "--value", "wieghts"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err,
            "tril: there is no value 'wieghts'; the nearest is 'weights'; --list names them all\n");
  const ProgramResult list = trace({"--text", "a", "--list"});
  EXPECT_THAT(list.out, HasSubstr("masked_scores  [1, 12, 12]\n"));
  const Json json = Json::parse(trace({"--text", "a", "--list", "--json"}).out);
  EXPECT_EQ(json["values"]["X"]["shape"], Json::parse("[12, 16]"));
  EXPECT_FALSE(json["values"]["X"].contains("data"));
  EXPECT_THAT(trace({}).err, HasSubstr("--text TEXT is missing"));
  EXPECT_THAT(trace({"--list"}).out, HasSubstr("logits"));
}

TEST_F(TraceProgram, TextHasTokensOnRowsAndColumns) {
  const ProgramResult weights = trace({"--text", "once there", "--value", "weights"});
  ASSERT_EQ(weights.exit_code, 0) << weights.err;
  EXPECT_THAT(weights.out, HasSubstr("[weights]"));
  EXPECT_THAT(weights.out, HasSubstr("       <BOS>   once  there\n"));
  EXPECT_THAT(weights.out, HasSubstr("<BOS>  1.000  0.000  0.000\n"));
  EXPECT_THAT(weights.out, Not(HasSubstr("<PAD>")));
  EXPECT_THAT(weights.out, HasSubstr("9 places of padding"));
  EXPECT_THAT(weights.out, HasSubstr("probability"));
  EXPECT_THAT(trace({"--text", "once there", "--value", "X"}).out, HasSubstr("least"));  // 16 numbers wide
}

TEST_F(TraceProgram, SeveralTextsMakeABatch) {
  const Json json = Json::parse(trace({"--text", "once there", "--text", "a", "--json"}).out);
  EXPECT_EQ(json["values"]["weights"]["shape"], Json::parse("[2, 1, 12, 12]"));
  ASSERT_EQ(json["next"].size(), 2u);
  const Json alone = Json::parse(trace({"--text", "a", "--json"}).out);
  EXPECT_EQ(json["next"][1][0]["id"], alone["next"][0][0]["id"]);
  EXPECT_EQ(json["tokens"][1], alone["tokens"][0]);
}

TEST_F(TraceProgram, AStackNamesItsBlocks) {
  train("stack", {"model.family=decoder", "model.layers=2", "model.heads=2", "model.context=8"});
  const auto stack = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"trace", *folder_ / "stack"});
    return run_program(more);
  };
  const Json json = Json::parse(stack({"--text", "once there was", "--value", "weights", "--json"}).out);
  ASSERT_EQ(json["values"].size(), 2u);
  const size_t length = json["tokens"][0].size();
  EXPECT_EQ(json["values"]["blocks.1.weights"]["shape"], Json({2, length, length}));
  EXPECT_EQ(json["filling"], Json({0}));
  // A batch of unequal lengths: each text has its own next tokens, and no row that means nothing is shown.
  const ProgramResult uneven =
      stack({"--text", "once there was", "--text", "a", "--value", "weights", "--json"});
  ASSERT_EQ(uneven.exit_code, 0) << uneven.err;
  const Json both = Json::parse(uneven.out);
  EXPECT_EQ(both["values"]["blocks.0.weights"]["shape"], Json({2, 2, length, length}));
  EXPECT_EQ(both["filling"], Json({0, 2}));
  EXPECT_EQ(both["tokens"][1].size(), length - 2);
  const Json alone = Json::parse(stack({"--text", "a", "--json"}).out);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(both["next"][1][i]["id"], alone["next"][0][i]["id"]);
    EXPECT_NEAR(both["next"][1][i]["probability"].get<double>(),
                alone["next"][0][i]["probability"].get<double>(), 1e-6);
  }
  const std::string shown =
      stack({"--text", "once there was", "--text", "a", "--value", "blocks.1.weights"}).out;
  EXPECT_THAT(shown, HasSubstr("text 1: 3 tokens\ntext 2: 1 token\n"));
  EXPECT_THAT(shown, HasSubstr("  text 2, head 2\n       a\na  1.000\n"));
}

// A character model has no <UNK>: what it can't read is refused, in that one line.
TEST_F(TraceProgram, ACharacterModelRefusesWhatItNeverMet) {
  ASSERT_EQ(
      run_program({"train", "tiny-gpt-abc", "--steps", "1", "--quiet", "--out", *folder_ / "abc"}).exit_code,
      0);
  const ProgramResult strange = run_program({"trace", *folder_ / "abc", "--text", "ab\xe6\x97\xa5"});
  EXPECT_EQ(strange.exit_code, 2);
  EXPECT_EQ(strange.err.find("warning:"), std::string::npos) << strange.err;
  EXPECT_THAT(strange.err, testing::StartsWith("tril: text: character 3"));
  const ProgramResult uneven = run_program(
      {"trace", *folder_ / "abc", "--text", "abca", "--text", "b", "--value", "blocks.1.weights", "--json"});
  ASSERT_EQ(uneven.exit_code, 0) << uneven.err;
  const Json json = Json::parse(uneven.out);
  EXPECT_EQ(json["values"]["blocks.1.weights"]["shape"], Json({2, 2, 4, 4}));
  EXPECT_EQ(json["filling"], Json({0, 3}));
}

// Odd texts are read like any other, or refused in one line.
TEST_F(TraceProgram, OddTexts) {
  for (const std::string& text :
       {std::string(), std::string("\n\n"), std::string("zorp ") + std::string(5000, 'a'),
        std::string("\xff\xfe"), std::string("<EOS> <PAD>"), std::string("\xe4\xb8\xad")}) {
    const ProgramResult result = trace({"--text", text, "--json"});
    EXPECT_EQ(result.signal, 0) << text;
    EXPECT_TRUE(result.exit_code == 0 || (result.exit_code == 2 && result.out.empty())) << text << result.err;
    if (result.exit_code == 0) {
      EXPECT_EQ(Json::parse(result.out)["next"][0].size(), 5u) << text;
    }
  }
  std::string words;
  for (int i = 0; i < 40; ++i) words += "the ";
  const ProgramResult cut = trace({"--text", words, "--value", "X"});
  EXPECT_EQ(cut.exit_code, 0);
  EXPECT_THAT(cut.err, HasSubstr("the model sees 12"));
  EXPECT_EQ(trace({"--text", "a", "--value", ""}).exit_code, 2);
  EXPECT_EQ(trace({"--text", "a", "--top", "1000"}).exit_code, 0);  // more than there are
}

}  // namespace
}  // namespace tril
