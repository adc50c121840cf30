// The real training loop, broken off at every operation on files that a short run does, and killed at random
// moments: resume ends at the same bits as the unbroken run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "program.h"
#include "tril/base/error_testing.h"
#include "tril/base/fault.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/base/threads.h"
#include "tril/train/config.h"
#include "tril/train/loop.h"

namespace tril {
namespace {
using testing::HasSubstr;

const std::vector<std::string> kSmall = {"data.stories=30",   "data.vocabulary=100", "model.context=4",
                                         "model.d_model=8",   "model.hidden=8",      "train.steps=4",
                                         "train.batch=8",     "train.eval_every=2",  "train.eval_examples=50",
                                         "train.log_every=1", "run.threads=1"};

Config small_config() {
  ConfigBuilder builder;
  builder.add_preset("one-head-smoke");
  for (const std::string& setting : kSmall) builder.set(setting);
  return builder.finish();
}

/// Trains a run to its end, anew or from where it stopped.
void train(const std::string& path) {
  if (file_exists(path + "/config.toml")) {
    RunFolder folder = RunFolder::open(path);
    resume_run(folder, std::nullopt, {});
  } else {
    RunFolder folder = RunFolder::create(path);
    train_run(folder, small_config());
  }
}

/// All that a run's end is judged by: everything but times.
std::string outcome(const std::string& path) {
  std::string all =
      std::regex_replace(read_file(path + "/metrics.jsonl"), std::regex(",\"seconds\":[^}]*"), "");
  const RunFolder run = RunFolder::view(path);
  for (const char* file : {"config.toml", "tokenizer.json", "data.json", "best.json", "last.json"}) {
    all += read_file(run.at(file));
  }
  const std::string checkpoint = run.at("checkpoints/" + checkpoint_name(run.last().value()));
  return all + read_file(checkpoint + "/model.safetensors") +
         read_file(checkpoint + "/optimizer.safetensors");
}

class TrainFaults : public testing::Test {
 protected:
  void SetUp() override {
    threads_before_ = threads();
    ASSERT_EQ(status_of([&] {
                fault::plan("");
                train(folder_.at("unbroken"));
              }),
              0);
    operations_ = fault::count();
    expected_ = outcome(folder_.at("unbroken"));
  }
  void TearDown() override {
    fault::plan("");
    set_threads(threads_before_);
  }

  void try_every_operation(const char* effect) {
    const bool dies = std::string_view(effect) == "kill";
    ASSERT_GT(operations_, 50);
    for (int64_t n = 1; n <= operations_; ++n) {
      const std::string path = folder_.at("run");
      const auto broken_off = [&] {
        fault::plan(fmt::format("any:{}:{}", n, effect));
        train(path);
      };
      const int status = dies ? in_child(broken_off) : status_of(broken_off);
      fault::plan("");
      ASSERT_TRUE(dies ? status == fault::kKilled : status == 0 || status == kExitRefused)
          << n << ": " << status;
      ASSERT_EQ(status_of([&] { train(path); }), 0) << n;
      ASSERT_EQ(outcome(path), expected_) << effect << " at " << n;
      remove_path(path);
    }
  }

  const TestFolder folder_{"train_faults"};
  std::string expected_;
  int64_t operations_ = 0;
  int threads_before_ = 1;
};

TEST_F(TrainFaults, DeathAtEveryOperation) {
  try_every_operation("kill");
}
TEST_F(TrainFaults, FailureOfEveryOperation) {
  try_every_operation("error");
}
TEST_F(TrainFaults, FullDiskAtEveryOperation) {
  try_every_operation("full");
}

std::vector<std::string> words_of_training(const std::string& path) {
  std::vector<std::string> words = {"train", "one-head-smoke", "--out", path, "--quiet"};
  for (const std::string& setting : kSmall)
    words.insert(words.end(), {"--set", setting == "train.steps=4" ? "train.steps=60" : setting});
  return words;
}

// Each kill comes a little later than the one before it, from the program's first moments to its last.
TEST(TrainKills, FiftyKillsAtAnyMoment) {
  const TestFolder folder("train_kills");
  ASSERT_EQ(run_program(words_of_training(folder.at("unbroken"))).exit_code, 0);
  const std::string path = folder.at("run");
  for (int i = 0; i < 50; ++i) {
    const bool begun = file_exists(path + "/config.toml");
    Program program(begun ? std::vector<std::string>{"resume", path, "--quiet"} : words_of_training(path));
    ::usleep(static_cast<useconds_t>(2000 + i * 1000 + (i * 7919) % 3000));
    program.kill(SIGKILL);
    const ProgramResult result = program.wait();
    ASSERT_TRUE(result.signal == SIGKILL || result.exit_code == 0) << i << ": " << result.err;
    if (file_exists(path + "/result.json")) {
      ASSERT_EQ(outcome(path), outcome(folder.at("unbroken"))) << i;
      remove_path(path);
    }
  }
  const bool begun = file_exists(path + "/config.toml");
  const auto last = run_program(begun ? std::vector<std::string>{"resume", path} : words_of_training(path));
  ASSERT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(outcome(path), outcome(folder.at("unbroken")));
}

TEST(TrainKills, FaultsComeByTheEnvironmentToo) {
  const TestFolder folder("train_environment");
  const ProgramResult full =
      run_program(words_of_training(folder.at("run")), {.environment = {"TRIL_FAULT=write:20:full"}});
  EXPECT_EQ(full.exit_code, kExitRefused);
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  const ProgramResult killed =
      run_program({"resume", folder.at("run")}, {.environment = {"TRIL_FAULT=rename:3:kill"}});
  EXPECT_EQ(killed.exit_code, fault::kKilled);
  EXPECT_EQ(run_program({"resume", folder.at("run")}).exit_code, 0);
}

}  // namespace
}  // namespace tril
