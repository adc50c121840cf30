// The demo by the program itself: what it promises in its document, that it can be run again, and that every
// command which it names works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "program.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

// One demo of few steps for the tests that read it.
class Demo : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    shown_ = new ProgramResult(
        run_program({"demo", "--json", "--quiet", "--steps", "240"}, {.folder = folder_->path()}));
  }
  static void TearDownTestSuite() {
    delete shown_;
    delete folder_;
  }
  static Json document() { return Json::parse(shown_->out); }
  static TemporaryFolder* folder_;
  static ProgramResult* shown_;
};
TemporaryFolder* Demo::folder_ = nullptr;
ProgramResult* Demo::shown_ = nullptr;

TEST_F(Demo, TheDocumentHoldsWhatWasShown) {
  ASSERT_EQ(shown_->exit_code, 0) << shown_->err;
  EXPECT_EQ(shown_->err, "");  // --quiet
  const Json json = document();
  EXPECT_TRUE(json["passed"].get<bool>());
  EXPECT_GE(json["checks"].size(), 24u);
  for (const Json& row : json["checks"]) {
    EXPECT_TRUE(row["passed"].get<bool>()) << row.dump();
    EXPECT_LE(row["value"].get<double>(), row["limit"].get<double>()) << row.dump();
  }
  EXPECT_NEAR(json["values"]["weights"]["data"][4].get<double>(), 0.330, 5e-4);
  EXPECT_THAT(json["tale"].get<std::string>(), HasSubstr("."));
  EXPECT_TRUE(json["audit"].is_object());
  ASSERT_EQ(json["samples"].size(), 2u);
  for (const Json& sample : json["samples"])
    EXPECT_THAT(sample["text"].get<std::string>(), testing::StartsWith(sample["prompt"].get<std::string>()));
  EXPECT_NE(json["samples"][0]["temperature"], json["samples"][1]["temperature"]);
}

TEST_F(Demo, BothModelsBeatTheBigram) {
  const Json json = document();
  const Json& baselines = json["baselines"];
  EXPECT_LT(baselines["bigram"].get<double>(), baselines["unigram"].get<double>());
  EXPECT_LT(baselines["unigram"].get<double>(), baselines["uniform"].get<double>());
  for (const char* name : {"one-head", "window-mlp"}) {
    const Json& run = json["runs"][name];
    EXPECT_LT(run["validation_loss"].get<double>(), baselines["bigram"].get<double>()) << name;
    EXPECT_EQ(run["steps"].get<int>(), 240);
    EXPECT_EQ(run["trace"].size(), 13u);  // step 1, and every twentieth
    EXPECT_EQ(run["targets"]["validation"], baselines["targets"]);
  }
}

TEST_F(Demo, WhatItNamesToTryWorks) {
  const Json json = document();
  ASSERT_GE(json["next"].size(), 5u);
  for (const Json& next : json["next"]) {
    auto words = next["words"].get<std::vector<std::string>>();
    EXPECT_THAT(next["command"].get<std::string>(), testing::StartsWith("tril " + words[0]));
    if (words[0] == "check") continue;                         // its own tests take care of it
    if (words[0] == "train") words.emplace_back("--dry-run");  // and of these two, in full
    if (words[0] == "resume") words.back() = "240";
    const ProgramResult result = run_program(words, {.folder = folder_->path()});
    EXPECT_EQ(result.exit_code, 0) << next["command"] << "\n" << result.err;
    EXPECT_NE(result.out, "") << next["command"];
  }
}

TEST(DemoText, TellsItPlainlyAndTakesTheNextFreeName) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "kept/demo-one-head");
  const ProgramResult shown = run_program(
      {"demo", "--steps", "2", "--out", "kept", "--threads", "1"},
      {.environment = {"LC_ALL=C", "NO_COLOR=1", "TRIL_COMMAND=./tril"}, .folder = folder.path()});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* words :
       {"[weights]", "1  0.330  0.670  0.000  0.000", "future weight", "Once there was", "documents", "loss",
        "targets seen", "uniform", "unigram", "bigram", "window MLP", "temperature 0.5", "temperature 1.0",
        "./tril generate kept/demo-one-head-2 --prompt 'once there was a'"})
    EXPECT_THAT(shown.out, HasSubstr(words));
  EXPECT_TRUE(fs::exists(folder / "kept/demo-one-head-2/result.json"));
  EXPECT_TRUE(fs::exists(folder / "kept/demo-window-mlp/result.json"));
  EXPECT_FALSE(fs::exists(folder / "runs"));
  EXPECT_EQ(shown.out.find('\x1b'), std::string::npos);
}

TEST(DemoText, RefusesAFolderThatCantBeWrittenBeforeItBegins) {
  const TemporaryFolder folder;
  const ProgramResult shown = run_program({"demo", "--out", "/proc/none"}, {.folder = folder.path()});
  EXPECT_EQ(shown.exit_code, 2);
  EXPECT_EQ(shown.out, "");
  EXPECT_THAT(shown.err, HasSubstr("/proc/none"));
}

// Before training there is nothing to save, and nothing stays.
TEST(DemoText, CtrlCEndsItCleanly) {
  const TemporaryFolder folder;
  Program program({"demo", "--json", "--quiet"}, {.folder = folder.path()});
  while (!fs::exists(folder / "runs/demo-window-mlp"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  program.kill(SIGINT);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, 130) << stopped.signal << stopped.err;
  EXPECT_EQ(stopped.out, "");
  EXPECT_FALSE(fs::exists(folder / "runs/demo-window-mlp"));
}

}  // namespace
}  // namespace tril
