// Every command where the terminal is poor: no UTF-8, a pipe, a pipe whose reader has gone, a full disk. What
// it leaves out: what they print (each command's own test).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"
#include "tril/base/file.h"
#include "tril/cli/commands.h"

namespace tril {
namespace {

using Words = std::vector<std::string>;

class EveryCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    write_file_atomically(*folder_ / "t.txt",
                          "One caf\xC3\xA9 and \xF0\x9F\x99\x82 more, one more.\n\nTwo words.\n");
    const ProgramResult made = run_program({"train", "tiny-gpt-abc", "--steps", "3", "--out",
                                            *folder_ / "run", "--data", *folder_ / "t.txt", "--quiet"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static void TearDownTestSuite() { delete folder_; }

  // One call of each command that prints something, with outputs of its own under `out`.
  static std::map<std::string, Words> calls(const std::string& out) {
    const std::string run = *folder_ / "run", text = *folder_ / "t.txt";
    const Words small = {"--set", "data.stories=30", "--set", "train.eval_examples=16"};
    std::map<std::string, Words> all = {
        {"train", {"train", "--steps", "2", "--out", out + "-train"}},
        {"resume", {"resume", run}},
        {"eval", {"eval", run, "--data", text}},
        {"generate", {"generate", run, "--prompt", "One caf\xC3\xA9", "--max-new-tokens", "4"}},
        {"score", {"score", run, "--text", "One \xF0\x9F\x99\x82"}},
        {"check", {"check", "hand-worked"}},
        {"trace", {"trace", run, "--text", "caf\xC3\xA9"}},
        {"presets", {"presets"}},
        {"config", {"config", "microgpt"}},
        {"data audit", {"data", "audit", text}},
        {"data tokenize", {"data", "tokenize", text}},
        {"data train-tokenizer", {"data", "train-tokenizer", text, "--vocab", "260", "--out", out + ".json"}},
        {"data tales", {"data", "tales", "--count", "2", "--seed", "1"}},
        {"data fetch", {"help", "data", "fetch"}},  // it needs the net
        {"export", {"export", run, "--to", "safetensors", "--out", out + ".safetensors"}},
        {"import", {"help", "import"}},  // tests/import_export_test.cc
        {"show", {"show", run}},
        {"bench", {"bench", "kernels", "--row", "scale", "--seconds", "0.001"}},
        {"setup", {"help", "setup"}},  // it needs the net
        {"route", {"route"}},
        {"version", {"version"}},
        {"help", {"help"}},
        {"demo", {"help", "demo"}}};  // tests/demo_test.cc
    all["train"].insert(all["train"].end(), small.begin(), small.end());
    return all;
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* EveryCommand::folder_ = nullptr;

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

TEST_F(EveryCommand, IsInTheList) {
  const auto all = calls("none");
  for (const cli::Command& command : cli::commands())
    EXPECT_TRUE(all.count(command.name)) << command.name << " is not run here";
}

// Case 43: no crash without UTF-8, no colour and no moving lines in a pipe. Beyond ASCII there is nothing but
// the user's own text.
TEST_F(EveryCommand, RunsWithoutUtf8IntoAPipe) {
  for (const auto& [name, words] : calls(*folder_ / "ascii")) {
    const ProgramResult result =
        run_program(words, {.environment = {"LC_ALL=C", "TERM=xterm-256color", "TRIL_PYTHON="}});
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_NE(result.out, "") << name;
    EXPECT_EQ((result.out + result.err).find('\x1b'), std::string::npos) << name;
    EXPECT_EQ((result.out + result.err).find('\r'), std::string::npos) << name;
    if (name != "generate" && name != "score" && name != "trace" && name != "data tokenize" &&
        name != "data audit" && name != "show") {
      EXPECT_TRUE(is_ascii(result.out + result.err)) << name << "\n" << result.out << result.err;
    }
  }
}

// Case 43, of a closed pipe.
TEST_F(EveryCommand, EndsQuietlyWhereTheReaderHasGone) {
  for (const auto& [name, words] : calls(*folder_ / "closed")) {
    Program program(words, {.environment = {"TRIL_PYTHON="}});
    program.close_output();
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.signal, 0) << name;
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
  }
}

TEST_F(EveryCommand, TellsAFullDiskInOneLine) {
  for (const auto& [name, words] : calls(*folder_ / "full")) {
    std::vector<std::string> quiet = words;
    quiet.emplace_back("--quiet");
    const ProgramResult result =
        run_program(quiet, {.environment = {"TRIL_PYTHON="}, .output_file = "/dev/full"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, testing::EndsWith("tril: standard output: No space left on device\n")) << name;
  }
}

TEST_F(EveryCommand, GivesOneDocumentOfJson) {
  for (const auto& [name, words] : calls(*folder_ / "json")) {
    if (words[0] == "help") continue;
    std::vector<std::string> as_json = words;
    as_json.emplace_back("--json");
    const ProgramResult result = run_program(as_json, {.environment = {"LC_ALL=C", "TRIL_PYTHON="}});
    EXPECT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_TRUE(nlohmann::json::accept(result.out)) << name << "\n" << result.out.substr(0, 200);
  }
}

}  // namespace
}  // namespace tril
