// Import and export by the program itself: what they refuse leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "program.h"
#include "tril/base/file.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ImportExport : public testing::Test {
 protected:
  ImportExport() {
    export_hf(exported(*filled_model(small_llama(270)), *small_tokenizer()), folder_ / "hf");
    imported_ = run_program({"import", folder_ / "hf", "--out", run()});
  }
  std::string run() const { return folder_ / "run"; }

  TemporaryFolder folder_;
  ProgramResult imported_;
};

TEST_F(ImportExport, AnImportedRunHasNoTextToEvaluate) {
  ASSERT_EQ(imported_.exit_code, 0) << imported_.err;
  const ProgramResult own = run_program({"eval", run()}), resumed = run_program({"resume", run()});
  for (const ProgramResult& refused : {own, resumed}) {
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("was imported, so it has no training state and no text of its own"));
    EXPECT_THAT(refused.err, HasSubstr("tril eval " + run() + " --data PATH"));
  }
  write_file_atomically(folder_ / "t.txt", "the cat and the hat sat; that is the thing that they had then\n");
  const ProgramResult given = run_program({"eval", run(), "--data", folder_ / "t.txt"});
  EXPECT_EQ(given.exit_code, 0) << given.err;
  EXPECT_THAT(given.out, HasSubstr("data: loss "));
}

// The disk is full at the first write, or the second, and so on.
TEST_F(ImportExport, AFailedImportLeavesNoRun) {
  for (int n = 1; n <= 8; ++n) {
    const std::string out = folder_ / ("out" + std::to_string(n));
    const ProgramResult failed =
        run_program({"import", folder_ / "hf", "--out", out},
                    {.environment = {"TRIL_FAULT=write:" + std::to_string(n) + ":full"}});
    EXPECT_EQ(failed.exit_code, 2) << n << failed.err;
    EXPECT_FALSE(fs::exists(out + "/config.toml")) << n;
  }
  EXPECT_EQ(run_program({"import", folder_ / "hf", "--out", run()}).exit_code, 2);
  EXPECT_TRUE(fs::exists(run() + "/config.toml"));  // the run that was there stays
}

// Case 37: one command writes the folder, reads it again, and tells the largest difference of the logits.
// What comes back as a run is the same model.
TEST_F(ImportExport, AnExportIsReadAgainAndTheDifferenceTold) {
  ASSERT_EQ(imported_.exit_code, 0) << imported_.err;
  for (const char* to : {"hf", "gguf"}) {
    const std::string out = folder_ / to + "-out";
    const ProgramResult written = run_program({"export", run(), "--to", to, "--out", out});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_THAT(written.out, HasSubstr("read again: over ")) << to;
    EXPECT_THAT(written.out, HasSubstr(" positions the logits differ by 0 at most (largest logit ")) << to;
  }
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json"})
    EXPECT_TRUE(fs::exists(folder_ / "hf-out/" + file)) << file;
  const ProgramResult back = run_program({"import", folder_ / "hf-out", "--out", folder_ / "back"});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  const auto text = [&](const std::string& of) {
    return run_program({"generate", of, "--prompt", "the cat", "--json", "--max-new-tokens", "9"}).out;
  };
  EXPECT_EQ(text(folder_ / "back"), text(run()));
}

// Killed at each of its operations on files: a whole run, or a folder that nothing takes for one.
TEST_F(ImportExport, AKilledImportLeavesNothingThatLooksLikeARun) {
  int killed = 0, whole = 0;
  for (int n = 1;; ++n) {
    const std::string out = folder_ / ("killed" + std::to_string(n));
    const ProgramResult import =
        run_program({"import", folder_ / "hf", "--out", out},
                    {.environment = {"TRIL_FAULT=any:" + std::to_string(n) + ":kill"}});
    if (import.exit_code == 0) break;
    ASSERT_EQ(import.exit_code, 137) << n << import.err;
    ++killed;
    const ProgramResult used = run_program({"generate", out, "--prompt", "the", "--max-new-tokens", "1"});
    if (fs::exists(out + "/config.toml")) {
      ++whole;
      EXPECT_EQ(used.exit_code, 0) << n << used.err;
    } else {
      EXPECT_EQ(used.exit_code, 2) << n;
      EXPECT_THAT(used.err, HasSubstr(fs::exists(out) ? "is not a run" : "there is no such run")) << n;
      const ProgramResult again = run_program({"import", folder_ / "hf", "--out", out});
      EXPECT_EQ(again.exit_code, 0) << n << again.err;
    }
  }
  EXPECT_GT(killed, 20);
  EXPECT_LE(whole, 2);  // the flushes behind the last rename
}

// A weight that is no number: told by import, refused by all that would compute with it.
TEST_F(ImportExport, AModelWithNaNIsWarnedOfAndNeverUsed) {
  const auto model = filled_model(small_llama(270));
  Parameters& parameters = model->parameters();
  const Tensor gain = parameters.value(parameters.find("final_norm.weight"));
  gain.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  export_hf(exported(*model, *small_tokenizer()), folder_ / "nan");
  const ProgramResult made = run_program({"import", folder_ / "nan", "--out", folder_ / "nanrun"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("tensor 'model.norm.weight' holds NaN (1 of "));
  write_file_atomically(folder_ / "t.txt", "the cat and the hat sat; that is the thing that they had then\n");
  const std::string out = folder_ / "out";
  const std::vector<std::vector<std::string>> uses = {
      {"score", folder_ / "nanrun", "--text", "the cat"},
      {"eval", folder_ / "nanrun", "--data", folder_ / "t.txt"},
      {"export", folder_ / "nanrun", "--to", "hf", "--out", out},
      {"train", "--from", folder_ / "nan", "--data", folder_ / "t.txt", "--out", out},
      {"train", "--from", folder_ / "nanrun", "--data", folder_ / "t.txt", "--out", out}};
  for (const auto& use : uses) {
    const ProgramResult refused = run_program(use);
    EXPECT_EQ(refused.exit_code, 2) << use[0] << refused.out << refused.err;
    EXPECT_THAT(refused.err, testing::AnyOf(HasSubstr("holds NaN"), HasSubstr("nan: the model's weights")))
        << use[0];
    EXPECT_FALSE(fs::exists(out)) << use[0];
  }
}

TEST_F(ImportExport, AnExportThatCanNotBeReadAgainIsRemoved) {
  ASSERT_EQ(imported_.exit_code, 0) << imported_.err;
  write_file_atomically(run() + "/generation_config.json", "{\"eos_token_id\": 999}");
  for (const char* to : {"hf", "gguf"}) {
    const ProgramResult refused = run_program({"export", run(), "--to", to, "--out", folder_ / "out"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("eos_token_id is 999")) << to;
    EXPECT_FALSE(fs::exists(folder_ / "out")) << to;
  }
}

}  // namespace
}  // namespace tril
