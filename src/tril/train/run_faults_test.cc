// A run broken off, or its disk failing, at every single operation on files: what is resumed ends as if
// nothing was.
#include "tril/train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tril/train/run_folder_testing.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

using RunFaults = RunFolderTest;

/// One death or failure at each operation of the run, then a resume: the same files as without it.
void try_every_operation(const std::string& root, const char* effect) {
  const bool dies = std::string_view(effect) == "kill";
  fault::plan("");
  train(root + "/unbroken");
  const int64_t operations = fault::count();
  const auto expected = content(root + "/unbroken");
  ASSERT_GT(operations, 100);
  for (int64_t n = 1; n <= operations; ++n) {
    const std::string path = fmt::format("{}/{}", root, n);
    const auto broken_off = [&] {
      fault::plan(fmt::format("any:{}:{}", n, effect));
      train(path);
    };
    const int status = dies ? in_child(broken_off) : status_of(broken_off);
    fault::plan("");
    ASSERT_TRUE(status == 0 || status == kExitRefused || status == fault::kKilled) << n << ": " << status;
    EXPECT_EQ(status == fault::kKilled, dies) << n;
    if (folder_exists(path) && file_exists(path + "/config.toml")) {
      const RunFolder seen = RunFolder::view(path);
      for (const int64_t step : seen.steps()) EXPECT_EQ(seen.load(step).step(), step) << n;
    } else if (status == kExitRefused) {
      EXPECT_FALSE(file_exists(path + "/config.toml")) << n;
    }
    ASSERT_EQ(status_of([&] { train(path); }), 0) << n;
    const auto got = content(path);
    for (const char* name :
         {"config.toml", "tokenizer.json", "metrics.jsonl", "last.json", "best.json", "result.json",
          "checkpoints/step-00000009/model.safetensors", "checkpoints/step-00000009/optimizer.safetensors",
          "checkpoints/step-00000009/state.json"}) {
      ASSERT_EQ(got.count(name), 1u) << n << " " << name;
      EXPECT_EQ(got.at(name), expected.at(name)) << n << " " << name;
    }
    for (const auto& [name, bytes] : got) EXPECT_FALSE(is_temporary_name(name)) << n << " " << name;
    fs::remove_all(path);
  }
}

TEST_F(RunFaults, DeathAtEveryOperationLosesNothing) {
  try_every_operation(root_, "kill");
}
TEST_F(RunFaults, FailureOfEveryOperationLosesNothing) {
  try_every_operation(root_, "error");
}
TEST_F(RunFaults, FullDiskAtEveryOperationLosesNothing) {
  try_every_operation(root_, "full");
}
TEST_F(RunFaults, ShortWritesAreGoneOnWith) {
  try_every_operation(root_, "short");
}

TEST_F(RunFaults, KillsAtRandomMomentsLoseNothing) {
  train(at("unbroken"));
  const auto expected = content(at("unbroken"));
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::freopen("/dev/null", "w", stderr);
      train(at("run"));
      ::_exit(0);
    }
    ::usleep(static_cast<useconds_t>(200 + (i * 7919) % 20000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    if (file_exists(at("run/result.json"))) fs::remove_all(at("run"));  // it was quicker: begin another
  }
  ASSERT_EQ(in_child([&] { train(at("run")); }), 0);
  const auto got = content(at("run"));
  for (const char* name : {"metrics.jsonl", "best.json", "checkpoints/step-00000009/state.json"}) {
    EXPECT_EQ(got.at(name), expected.at(name)) << name;
  }
}

TEST_F(RunFaults, AFullDiskWhileSavingIsToldWithWhatStays) {
  RunFolder run = RunFolder::create(at("run"));
  run.write("config.toml", "x");
  SmallTrainer trainer;
  trainer.update();
  run.save(trainer.checkpoint());
  trainer.update();
  fault::plan("write:3:full");
  const std::string said = refusal_of([&] { run.save(trainer.checkpoint()); });
  fault::plan("");
  EXPECT_EQ(said,
            fmt::format("{0}/checkpoints/step-00000002/model.safetensors: can't be written: No space left on "
                        "device\n{0}: the checkpoint of step 2 was not saved; kept: step 1",
                        at("run")));
  EXPECT_EQ(run.steps(), std::vector<int64_t>{1});
  run.save(trainer.checkpoint());
  EXPECT_EQ(run.steps(), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace tril
