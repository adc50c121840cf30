// check by the program itself, on presets. The quick ones always; with TRIL_EVERY_PRESET set, every one
// (minutes).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"
#include "tril/formats/foreign_testing.h"
#include "tril/train/config.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;

bool asked_for(const std::string& preset) {
  const std::vector<std::string> quick = {"microgpt",   "microgpt-16", "tiny-gpt-abc",      "one-head-smoke",
                                          "window-mlp", "names-char",  "shakespeare-char-6"};
  return std::getenv("TRIL_EVERY_PRESET") != nullptr ||
         std::find(quick.begin(), quick.end(), preset) != quick.end();
}

TEST(CheckProgram, EveryRowOfEveryPresetPassesAndNamesItsSubject) {
  for (const std::string& preset : preset_names()) {
    if (!asked_for(preset)) continue;
    const ProgramResult result = run_program({"check", preset, "--json"});
    EXPECT_EQ(result.exit_code, 0) << preset << ": " << result.out << result.err;
    const Json document = Json::parse(result.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << preset << result.err;
    EXPECT_TRUE(document["passed"].get<bool>());
    EXPECT_GE(document["checks"].size(), 6u) << preset;
    for (const Json& row : document["checks"]) {
      EXPECT_TRUE(row["passed"].get<bool>()) << preset << ": " << row;
      EXPECT_THAT(row["what"].get<std::string>(),
                  EndsWith("; " + preset + " on tales, fresh weights of seed 11"));
    }
  }
}

TEST(CheckProgram, TheTableStandsUnderItsSubject) {
  const ProgramResult result = run_program({"check", "microgpt", "--seed", "7"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, testing::StartsWith("microgpt on tales, fresh weights of seed 7\n\ncheck "));
  EXPECT_THAT(result.out, HasSubstr("blocks of 16 tokens spread over the training part"));
  EXPECT_THAT(result.out, HasSubstr("passed, 0 failed\n"));
}

// A run that began from another's weights: every row passes, and one that would speak of weights never drawn
// is left out and told. A tied GPT-2's fresh weights would fail it by far.
TEST(CheckProgram, RunsBegunFromAModelPassOnTheirOwnWeights) {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "the cat and the hat sat; that is the thing that they had then\n";
  write_file_atomically(folder / "t.txt", text);
  for (ModelConfig config : {small_llama(270), small_gpt2(270)}) {
    config.context = 16;
    const std::string base = folder / config.norm;
    export_hf(exported(*filled_model(config), *small_tokenizer()), base);
    const std::vector<std::string> ways[] = {{},
                                             {"train.freeze=token_embedding,blocks.0"},
                                             {"lora.rank=3", "model.dropout=0.1"},
                                             {"lora.rank=2", "lora.targets=W_O,up"}};
    std::vector<std::string> runs = {base + "-imported"};
    ASSERT_EQ(run_program({"import", base, "--out", runs[0]}).exit_code, 0);
    for (const auto& settings : ways) {
      runs.push_back(base + "-" + std::to_string(runs.size()));
      std::vector<std::string> words = {"train", "--from",    base,      "--data", folder / "t.txt",
                                        "--out", runs.back(), "--steps", "2"};
      for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
      const ProgramResult trained = run_program(words);
      ASSERT_EQ(trained.exit_code, 0) << trained.err;
    }
    for (const std::string& run : runs) {
      const ProgramResult checked = run_program({"check", run, "--json"});
      EXPECT_EQ(checked.exit_code, 0) << run << checked.out << checked.err;
      EXPECT_THAT(checked.out, HasSubstr("\"gradients\""));
      EXPECT_THAT(checked.out, testing::Not(HasSubstr("first loss\"")));
      EXPECT_THAT(checked.out,
                  HasSubstr(run == runs[0] ? ", imported (so without a first loss), on tales"
                                           : ", begun from " + base + " (so without a first loss)"));
    }
  }
}

// Weights drawn by PyTorch's rule behind a norm spread their logits by 1/√3: the first loss is above ln 3 by
// design.
TEST(CheckProgram, ASpreadOfLogitsThatIsMeantIsNoWarning) {
  const TemporaryFolder folder;
  const ProgramResult trained =
      run_program({"train", "tiny-gpt-abc", "--seed", "0", "--steps", "1", "--out", folder / "run"});
  EXPECT_EQ(trained.exit_code, 0);
  EXPECT_THAT(trained.err,
              HasSubstr("ln 3 = 1.0986, and with the spread that fresh logits have here, 1.2653"));
  EXPECT_THAT(trained.err, testing::Not(HasSubstr("warning:")));
}

}  // namespace
}  // namespace tril
