#include "tril/train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>

#include "tril/train/run_folder_testing.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

TEST_F(RunFolderTest, UnbrokenRunHoldsItsFilesAndNoMore) {
  train(at("run"));
  std::vector<std::string> names;
  for (const auto& [name, bytes] : content(at("run"))) names.push_back(name);
  const auto best = RunFolder::view(at("run")).best();
  ASSERT_TRUE(best);
  std::vector<std::string> expected = {"best.json",     "config.toml", "last.json",
                                       "metrics.jsonl", "result.json", "tokenizer.json"};
  for (const int64_t step : RunFolder::view(at("run")).steps()) {
    EXPECT_TRUE(step == *best || step == 8 || step == 9) << step;
    for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
      expected.push_back(fmt::format("checkpoints/{}/{}", checkpoint_name(step), file));
    }
  }
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(RunFolder::view(at("run")).last(), 9);
  EXPECT_FALSE(file_exists(at("run/lock")));
}

TEST_F(RunFolderTest, RefusedFoldersStayAsTheyAre) {
  put(at("file"), "x");
  EXPECT_EQ(refusal_of([&] { RunFolder::create(at("file")); }),
            at("file") + ": is a file, a run is a folder; give another --out");
  fs::create_directories(at("full"));
  put(at("full/notes.txt"), "mine");
  EXPECT_EQ(refusal_of([&] { RunFolder::create(at("full") + "/"); }),
            at("full") + ": is not empty, it holds 'notes.txt'; give another --out or an empty folder");
  EXPECT_EQ(list_folder(at("full")), std::vector<std::string>{"notes.txt"});
  train(at("run"));
  EXPECT_THAT(refusal_of([&] { RunFolder::create(at("run")); }), HasSubstr("already holds a run"));
  EXPECT_EQ(refusal_of([&] { RunFolder::open(at("none")); }), at("none") + ": there is no such run");
  EXPECT_EQ(refusal_of([&] { RunFolder::view(at("full")); }),
            at("full") + ": is not a run, it has no config.toml");
  EXPECT_EQ(refusal_of([&] { RunFolder::view(at("file")); }), at("file") + ": is a file, a run is a folder");
}

TEST_F(RunFolderTest, WhatCreateRefusesIsRefusedWithoutWriting) {
  put(at("file"), "x");
  fs::create_directories(at("full"));
  put(at("full/notes.txt"), "mine");
  train(at("run"));
  const RunFolder begun = RunFolder::create(at("begun"));
  const std::map<std::string, std::string> refusals = {
      {"", "a folder's name is needed"},
      {at("file"), "is a file"},
      {at("file/run"), "can't be made: " + at("file") + " is no folder"},
      {at("full"), "is not empty"},
      {at("run"), "already holds a run"},
      {at("begun"), "is in use by process"},
      {at("a\xFF"), "a\xFF': byte " + std::to_string(at("a").size()) + " is not valid UTF-8"}};
  for (const auto& [path, said] : refusals) {
    EXPECT_THAT(refusal_of([&] { RunFolder::require_new(path); }), HasSubstr(said)) << path;
    EXPECT_EQ(refusal_of([&] { RunFolder::create(path); }),
              refusal_of([&] { RunFolder::require_new(path); }));
  }
  RunFolder::require_new(at("a/b/c"));
  EXPECT_FALSE(folder_exists(at("a")));
}

TEST_F(RunFolderTest, ADeathWhileARunIsDiscardedLeavesARun) {
  for (int n = 1; n <= 4; ++n) {
    fs::remove_all(at("run"));
    in_child([&] {
      RunFolder run = RunFolder::create(at("run"));
      run.write("config.toml", "x");
      run.write("data.json", "{}");
      run.write("tokenizer.json", "{}");
      fault::plan(fmt::format("remove:{}:kill", n));
      run.discard();
    });
    if (!folder_exists(at("run"))) continue;
    EXPECT_EQ(refusal_of([&] { RunFolder::open(at("run")).restore(); }), "") << n;
  }
}

TEST_F(RunFolderTest, FolderThatCannotBeWrittenIsFoundBeforeWorkAndNothingStays) {
  for (int n = 1; n <= 4; ++n) {
    fault::plan(fmt::format("create:{}:error", n));
    const std::string said = refusal_of([&] { RunFolder::create(at("a/b/run")); });
    if (said.empty()) continue;
    EXPECT_THAT(said, HasSubstr("Input/output error")) << n;
    EXPECT_TRUE(list_folder(root_).empty()) << n;
  }
  fault::plan("");
  EXPECT_THAT(refusal_of([&] { RunFolder::create("/proc/tril/run"); }),
              HasSubstr("/proc/tril/run: can't be made"));
}

TEST_F(RunFolderTest, RefusedWorkLeavesNothing) {
  { const RunFolder run = RunFolder::create(at("a/b")); }
  EXPECT_TRUE(list_folder(root_).empty());
  {
    RunFolder run = RunFolder::create(at("a/b"));
    run.write("config.toml", "x");
    run.discard();
  }
  EXPECT_TRUE(list_folder(root_).empty());
  fs::create_directories(at("mine"));
  { const RunFolder run = RunFolder::create(at("mine")); }
  EXPECT_EQ(list_folder(root_), std::vector<std::string>{"mine"});  // it was there before
}

TEST_F(RunFolderTest, DefaultNamesCountUp) {
  RunFolder one = RunFolder::create_default("smoke", root_);
  RunFolder two = RunFolder::create_default("smoke", root_);
  EXPECT_EQ(one.path(), at("smoke"));
  EXPECT_EQ(two.path(), at("smoke-2"));
  EXPECT_EQ(RunFolder::create_default("smoke", root_).path(), at("smoke-3"));
}

TEST_F(RunFolderTest, LiveOwnerIsRefusedAndDeadOneFollowed) {
  {
    RunFolder run = RunFolder::create(at("run"));
    run.write("config.toml", "x");
    EXPECT_THAT(refusal_of([&] { RunFolder::open(at("run")); }),
                HasSubstr(fmt::format("is in use by process {}", ::getpid())));
    EXPECT_THAT(refusal_of([&] { RunFolder::create(at("run")); }), HasSubstr("already holds a run"));
    RunFolder::view(at("run"));  // reading needs no lock
  }
  in_child([&] {
    RunFolder::open(at("run"));
    RunFolder run = RunFolder::open(at("run"));
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(file_exists(at("run/lock")));
  testing::internal::CaptureStderr();
  RunFolder::open(at("run"));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("ended without cleaning up"));
}

TEST_F(RunFolderTest, FolderOfARunThatDiedBeforeItsConfigIsUsed) {
  in_child([&] {
    RunFolder run = RunFolder::create(at("run"));
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_EQ(list_folder(at("run")), std::vector<std::string>{"lock"});
  put(at("run/config.toml.tril-tmp-1-0"), "half");
  train(at("run"));
  EXPECT_TRUE(file_exists(at("run/result.json")));
}

TEST_F(RunFolderTest, BrokenPointersAreNoticed) {
  train(at("run"));
  for (const char* text :
       {"", "{", "[]", "{\"step\": 8}", "{\"step\": 8, \"path\": \"checkpoints/step-00000009\"}",
        "{\"step\": 77, \"path\": \"checkpoints/step-00000077\"}"}) {
    put(at("run/best.json"), text);
    put(at("run/last.json"), text);
    testing::internal::CaptureStderr();
    EXPECT_EQ(RunFolder::view(at("run")).load_best().step(), 9) << text;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("warning:"));
  }
  RunFolder run = RunFolder::open(at("run"));
  testing::internal::CaptureStderr();
  const auto from = run.restore();
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(from->step(), 9);
  EXPECT_EQ(run.last(), 9);
  EXPECT_EQ(run.best(), from->best_step());
}

// A checkpoint is what its own state says, whatever its folder is called; and a file is none.
TEST_F(RunFolderTest, ACheckpointUnderAnotherStepsNameOrAsAFileIsNotUsed) {
  train(at("run"));
  const std::string newest = at("run/checkpoints/step-00000009"), older = at("run/checkpoints/step-00000008");
  fs::remove_all(newest);
  fs::copy(older, newest);
  const std::string moved = newest + ": holds the state of step 8";
  EXPECT_EQ(refusal_of([&] { RunFolder::view(at("run")).load(9); }), moved);
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunFolder::view(at("run")).find_last()->step(), 8);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(moved));
  fs::remove_all(newest);
  put(newest, "x");
  const std::string file = newest + ": is a file, a checkpoint is a folder";
  EXPECT_EQ(refusal_of([&] { RunFolder::view(at("run")).load(9); }), file);
  EXPECT_EQ(RunFolder::view(at("run")).steps().back(), 8);
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunFolder::view(at("run")).find_last()->step(), 8);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("warning: " + file));
}

// Case 44: no row twice after a resume.
TEST_F(RunFolderTest, MetricsAreCutBackToTheCheckpoint) {
  train(at("run"));
  const std::string whole = read_file(at("run/metrics.jsonl"));
  put(at("run/metrics.jsonl"), whole + "{\"step\": 10}\n{\"step\": 11}\n{\"st");
  RunFolder::open(at("run")).restore();
  EXPECT_EQ(read_file(at("run/metrics.jsonl")), whole);
  put(at("run/metrics.jsonl"), whole + "rubbish\n{\"step\": 9}\n");
  RunFolder::open(at("run")).restore();
  EXPECT_EQ(read_file(at("run/metrics.jsonl")), whole);
}

// Whatever was done to metrics.jsonl since the checkpoint is told with its numbers.
TEST_F(RunFolderTest, MetricsThatWereChangedAreTold) {
  train(at("run"));
  const std::string whole = read_file(at("run/metrics.jsonl"));
  const size_t line = whole.find('\n') + 1;
  std::string edited = whole;
  edited[whole.find("loss")] = 'L';
  const std::string here = "warning: " + at("run/metrics.jsonl") + ": ";
  const std::map<std::string, std::string> said = {
      {whole, ""},
      {whole.substr(line),
       here + "has 8 lines up to step 9, and 9 when that step's checkpoint was written: it was "
              "changed since\n"},
      {"",
       here +
           "has 0 lines up to step 9, and 9 when that step's checkpoint was written: it was changed since\n"},
      {whole.substr(0, line) + whole, here + "has 10 lines up to step 9, and 9 when that step's checkpoint "
                                             "was written: it was changed since\n"},
      {edited, here +
                   "its 9 lines up to step 9 are not those that were there when that step's checkpoint was "
                   "written\n"},
      {whole + "{\"step\": 10}\n{\"step\": 11}\n",
       here + "2 lines after step 9 dropped; those steps are computed again\n"},
      {whole + "what\n{\"step\": 11}\n",
       here + "line 10 is no metrics line; it and all after it are dropped, 2 lines in all\n"}};
  for (const auto& [text, expected] : said) {
    put(at("run/metrics.jsonl"), text);
    testing::internal::CaptureStderr();
    RunFolder::open(at("run")).restore();
    EXPECT_EQ(testing::internal::GetCapturedStderr(), expected);
  }
}

TEST_F(RunFolderTest, BeforeItsFirstCheckpointARunBeginsAgain) {
  {
    RunFolder run = RunFolder::create(at("run"));
    run.write("config.toml", "x");
    run.append_metrics("{\"step\": 1}");
  }
  RunFolder run = RunFolder::open(at("run"));
  EXPECT_FALSE(run.restore());
  EXPECT_EQ(read_file(at("run/metrics.jsonl")), "");
  EXPECT_THAT(refusal_of([&] { run.load_best(); }), HasSubstr("has no checkpoint yet"));
}

TEST_F(RunFolderTest, KeepsBestLastTheOneBeforeAndMoreOnRequest) {
  for (const auto& [keep, expected] : std::map<int64_t, std::vector<int64_t>>{
           {0, {3, 6, 7}}, {3, {3, 6, 7}}, {4, {3, 5, 6, 7}}, {100, {1, 2, 3, 4, 5, 6, 7}}}) {
    fs::remove_all(at("run"));
    RunFolder run = RunFolder::create(at("run"));
    run.write("config.toml", "x");
    SmallTrainer trainer;
    for (int i = 0; i < 7; ++i) {
      trainer.update();
      trainer.best_step = trainer.step < 3 ? trainer.step : 3;
      run.save(trainer.checkpoint(), keep);
    }
    EXPECT_EQ(run.steps(), expected) << keep;
    EXPECT_EQ(run.best(), 3);
  }
}

TEST_F(RunFolderTest, NewestIsTheOneWrittenLast) {
  EXPECT_THAT(refusal_of([&] { newest_run(root_); }), HasSubstr("holds no run"));
  for (const char* name : {"b", "a"}) {
    RunFolder run = RunFolder::create(at(name));
    run.write("config.toml", "x");
  }
  fs::last_write_time(at("b/config.toml"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(newest_run(root_), at("b"));
}

}  // namespace
}  // namespace tril
