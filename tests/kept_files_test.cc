// What is in a run stays its own, by the program itself: no output is written over it or over what a command
// reads, what is missing is made again, and what was changed is told by its name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class KeptFiles : public testing::Test {
 protected:
  void SetUp() override { train("w", "one-head-smoke", {"data.stories=40", "data.vocabulary=100"}); }

  void train(const std::string& out, const std::string& preset, const std::vector<std::string>& settings) {
    std::vector<std::string> words = {"train", preset, "--out", out, "--quiet", "--steps", "3"};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    const ProgramResult made = run(words);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  ProgramResult run(const std::vector<std::string>& words) const {
    return run_program(words, {.folder = folder_.path()});
  }
  std::string refusal(const std::vector<std::string>& words) const {
    const ProgramResult result = run(words);
    EXPECT_EQ(result.exit_code, 2) << words[0] << result.err;
    EXPECT_EQ(result.out, "") << words[0];
    return result.err;
  }
  std::string read(const std::string& name) const { return read_file(folder_ / name); }

  const TemporaryFolder folder_;
};

TEST_F(KeptFiles, OutputsAreNeverWrittenOverThem) {
  write_file_atomically(folder_ / "s.txt", "one fish two fish\n");
  const std::vector<std::string> kept = {"w/config.toml", "w/tokenizer.json", "s.txt"};
  std::vector<std::string> before;
  for (const std::string& name : kept) before.push_back(read(name));
  for (const char* to : {"npz", "safetensors", "gguf", "llama2c", "nanogpt"})
    EXPECT_THAT(refusal({"export", "w", "--to", to, "--out", "w/config.toml"}), HasSubstr("lies in the run"));
  EXPECT_THAT(refusal({"export", "w", "--to", "hf", "--out", "w/new"}), HasSubstr("lies in the run"));
  const std::vector<std::string> merges = {"data", "train-tokenizer", "s.txt", "--vocab", "258", "--out"};
  const std::vector<std::string> ids = {"data", "tokenize", "s.txt", "--tokenizer", "w", "--out"};
  for (std::vector<std::string> words : {merges, ids}) {
    words.emplace_back("s.txt");
    EXPECT_THAT(refusal(words), HasSubstr("s.txt: is what is read here"));
    words.back() = "w/tokenizer.json";
    EXPECT_THAT(refusal(words), HasSubstr("lies in the run"));
    words.back() = "other";
    EXPECT_EQ(run(words).exit_code, 0) << words[1];
    EXPECT_EQ(run(words).exit_code, 0) << words[1];  // its own output of before is written over
  }
  for (const char* out : {"w/inner", "w/checkpoints/step-00000001/inner"})
    EXPECT_THAT(refusal({"train", "tiny-gpt-abc", "--steps", "1", "--out", out}),
                HasSubstr("lies in the run"));
  fs::create_directory(folder_ / "w/empty");
  EXPECT_THAT(refusal({"train", "tiny-gpt-abc", "--steps", "1", "--out", "w/empty"}),
              HasSubstr("lies in the run"));
  EXPECT_THAT(refusal({"data", "fetch", "tinyshakespeare", "--out", "w/t.txt"}),
              HasSubstr("lies in the run"));
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(read(kept[i]), before[i]) << kept[i];
}

TEST_F(KeptFiles, WhatIsMissingIsMadeAgainByResume) {
  for (const std::string name : {"w/tokenizer.json", "w/data.json"}) {
    const std::string before = read(name);
    fs::remove(folder_ / name);
    if (name == "w/tokenizer.json") {
      EXPECT_THAT(refusal({"generate", "w", "--prompt", "the"}),
                  HasSubstr("w/tokenizer.json: is missing; put it back, or have it made again from the run's "
                            "text: tril resume w\n"));
    }
    const ProgramResult resumed = run({"resume", "w"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_EQ(read(name), before);
  }
  EXPECT_THAT(run({"resume", "w"}).err, HasSubstr("the run is finished"));
  write_file_atomically(folder_ / "w/data.json", "{\"source\":");
  EXPECT_THAT(refusal({"resume", "w"}), HasSubstr("w/data.json: is not a JSON object (damaged?)"));
}

// Case 26: the fingerprint in the checkpoint is held to the tokenizer before any text is read.
TEST_F(KeptFiles, AnotherTokenizerIsToldByItsFileNotByTheText) {
  train("b", "one-head-smoke", {"data.stories=60", "data.vocabulary=100"});
  write_file_atomically(folder_ / "w/tokenizer.json", read("b/tokenizer.json"));
  const std::string generated = refusal({"generate", "w", "--prompt", "the"});
  EXPECT_THAT(generated, HasSubstr("was trained with another tokenizer: its fingerprint is "));
  EXPECT_THAT(generated, HasSubstr(", w/tokenizer.json has "));
  for (const auto& words : {std::vector<std::string>{"resume", "w"}, {"resume", "w", "--steps", "9"}}) {
    const std::string resumed = refusal(words);
    EXPECT_THAT(resumed, HasSubstr("was trained with another tokenizer: its fingerprint is "));
    EXPECT_THAT(resumed, HasSubstr(", w/tokenizer.json has "));
    EXPECT_THAT(resumed, Not(HasSubstr("the same text")));
  }
}

// An encoder's loss is that of a text it has seen.
TEST_F(KeptFiles, AModelWithoutAMaskPredictsNothing) {
  train("enc", "tiny-gpt-abc", {"model.mask=none"});
  const std::string cached = refusal({"generate", "enc", "--prompt", "a"});
  EXPECT_THAT(cached, HasSubstr("nothing can be generated from it"));
  EXPECT_EQ(refusal({"generate", "enc", "--prompt", "a", "--no-cache"}), cached);
  for (const auto& words :
       {std::vector<std::string>{"score", "enc", "--text", "abc"}, {"eval", "enc", "--data", "s.txt"}}) {
    write_file_atomically(folder_ / "s.txt", "abcabc");
    const ProgramResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::string warning = "warning: enc: with model.mask = \"none\" each position sees its own target";
    const size_t at = result.err.find(warning);
    EXPECT_NE(at, std::string::npos) << words[0] << result.err;
    EXPECT_EQ(result.err.find(warning, at + 1), std::string::npos) << words[0];
  }
}

TEST_F(KeptFiles, TalesAsJsonAreOneDocument) {
  for (const char* count : {"1", "3"}) {
    const ProgramResult made = run({"data", "tales", "--count", count, "--seed", "4", "--json"});
    const auto document = nlohmann::ordered_json::parse(made.out);
    EXPECT_EQ(document["seed"], 4);
    EXPECT_EQ(document["tales"].size(), std::stoul(count));
    EXPECT_EQ(document.dump(2) + "\n", made.out);
  }
}

}  // namespace
}  // namespace tril
