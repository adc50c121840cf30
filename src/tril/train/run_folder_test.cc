#include "tril/train/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/fault.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    // Memory is as good a disk as any here, and waits for nothing.
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    root_ = (memory ? "/dev/shm" : testing::TempDir()) + "/tril_run_" + std::to_string(::getpid()) + "_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override {
    fault::plan("");
    fs::remove_all(root_);
  }
  std::string at(const std::string& name) const { return root_ + "/" + name; }
  std::string root_;
};

std::string refusal_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

/// Runs body in a child process that ends without destructors; returns its exit status.
int in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);  // its warnings are not this test's
    int status = 0;
    try {
      body();
    } catch (const Error& error) {
      status = error.exit_code();
    }
    ::_exit(status);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void flip(const std::string& path, size_t byte) {
  std::string bytes = read_file(path);
  bytes.at(byte) = static_cast<char>(bytes[byte] ^ 4);
  put(path, bytes);
}

/// A trainer as small as can be that still carries all that a real one does: weights, moments, a generator, a
/// loss that wanders (so that "best" moves), metrics, checkpoints.
struct SmallTrainer {
  std::array<float, 6> weights{}, moments{};
  uint64_t generator = 7;
  double best_loss = 1e9;
  int64_t step = 0, best_step = 0;

  double update() {
    ++step;
    generator = generator * 6364136223846793005u + 1442695040888963407u;
    const auto gradient = static_cast<float>(generator >> 40) * 0x1p-24f - 0.5f;
    for (size_t i = 0; i < weights.size(); ++i) {
      moments[i] = 0.9f * moments[i] + gradient;
      weights[i] -= 0.1f * moments[i] * static_cast<float>(i + 1);
    }
    return static_cast<double>(gradient) * gradient;
  }

  Checkpoint checkpoint() {
    const std::string state = json({{"generator", generator}, {"best_loss", best_loss}}).dump();
    return {step,
            best_step,
            std::string(64, 'a'),
            {stored("weights", Tensor{{2, 3}, DType::f32, weights.data()})},
            {stored("moments", Tensor{{6}, DType::f32, moments.data()})},
            state};
  }

  void restore(const LoadedCheckpoint& from) {
    step = from.step();
    best_step = from.best_step();
    copy_stored(*from.model().find("weights"), Tensor{{2, 3}, DType::f32, weights.data()}, "model");
    copy_stored(*from.optimizer().find("moments"), Tensor{{6}, DType::f32, moments.data()}, "optimizer");
    const json state = json::parse(from.state());
    generator = state.at("generator");
    best_loss = state.at("best_loss");
  }
};

constexpr int64_t kSteps = 9, kEvery = 2;

/// Trains a run to its end, anew or from where it stopped.
void train(const std::string& path) {
  const bool begun = file_exists(path + "/config.toml");
  RunFolder run = begun ? RunFolder::open(path) : RunFolder::create(path);
  if (!begun) run.write("config.toml", "[train]\n");
  if (!run.has("tokenizer.json")) run.write("tokenizer.json", "{}");
  SmallTrainer trainer;
  if (begun) {
    if (const std::optional<LoadedCheckpoint> from = run.restore()) trainer.restore(*from);
  }
  while (trainer.step < kSteps) {
    const double loss = trainer.update();
    const bool evaluated = trainer.step == 1 || trainer.step % kEvery == 0 || trainer.step == kSteps;
    if (evaluated && loss < trainer.best_loss) {
      trainer.best_loss = loss;
      trainer.best_step = trainer.step;
    }
    run.append_metrics(json({{"step", trainer.step}, {"train_batch_loss", loss}}).dump());
    if (evaluated) run.save(trainer.checkpoint());
  }
  run.write("result.json", json({{"selected_step", trainer.best_step}}).dump());
}

/// Every file of a run with its bytes, but for the lock.
std::map<std::string, std::string> content(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().filename() != "lock") {
      files[fs::relative(entry.path(), path).string()] = read_file(entry.path().string());
    }
  }
  return files;
}

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

/// One death or failure at each operation of the run, then a resume: the same files as without it.
void try_every_operation(const std::string& root, const char* effect) {
  fault::plan("");
  train(root + "/unbroken");
  const int64_t operations = fault::count();
  const auto expected = content(root + "/unbroken");
  ASSERT_GT(operations, 100);
  for (int64_t n = 1; n <= operations; ++n) {
    const std::string path = fmt::format("{}/{}", root, n);
    const int status = in_child([&] {
      fault::plan(fmt::format("any:{}:{}", n, effect));
      train(path);
    });
    ASSERT_TRUE(status == 0 || status == kExitRefused || status == fault::kKilled) << n << ": " << status;
    EXPECT_EQ(status == fault::kKilled, std::string_view(effect) == "kill") << n;
    if (folder_exists(path) && file_exists(path + "/config.toml")) {
      const RunFolder seen = RunFolder::view(path);
      for (const int64_t step : seen.steps()) EXPECT_EQ(seen.load(step).step(), step) << n;
    } else if (status == kExitRefused) {
      EXPECT_FALSE(file_exists(path + "/config.toml")) << n;
    }
    ASSERT_EQ(in_child([&] { train(path); }), 0) << n;
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

TEST_F(RunFolderTest, DeathAtEveryOperationLosesNothing) {
  try_every_operation(root_, "kill");
}
TEST_F(RunFolderTest, FailureOfEveryOperationLosesNothing) {
  try_every_operation(root_, "error");
}
TEST_F(RunFolderTest, FullDiskAtEveryOperationLosesNothing) {
  try_every_operation(root_, "full");
}
TEST_F(RunFolderTest, ShortWritesAreGoneOnWith) {
  try_every_operation(root_, "short");
}

TEST_F(RunFolderTest, KillsAtRandomMomentsLoseNothing) {
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

std::string newest(const std::string& root, const char* file) {
  return root + "/checkpoints/step-00000009/" + file;
}

// Cut, or one bit changed, anywhere in any of the three files: noticed, and the one before is used.
TEST_F(RunFolderTest, DamagedNewestCheckpointFallsBackWithAWarning) {
  train(at("good"));
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const size_t size = read_file(newest(at("good"), file)).size();
    for (size_t place = 0; place < size; place += size / 11) {
      for (const bool cut : {false, true}) {
        fs::remove_all(at("run"));
        fs::copy(at("good"), at("run"), fs::copy_options::recursive);
        const std::string path = newest(at("run"), file);
        if (cut) {
          fs::resize_file(path, place);
        } else {
          flip(path, place);
        }
        testing::internal::CaptureStderr();
        {
          RunFolder run = RunFolder::open(at("run"));
          const std::optional<LoadedCheckpoint> from = run.restore();
          ASSERT_TRUE(from) << file << place;
          EXPECT_EQ(from->step(), 8);
          EXPECT_EQ(run.last(), 8);
          EXPECT_FALSE(folder_exists(at("run/checkpoints/step-00000009")));
          EXPECT_TRUE(folder_exists(at("run/checkpoints/" + checkpoint_name(run.best().value()))));
        }
        const std::string said = testing::internal::GetCapturedStderr();
        EXPECT_THAT(said, HasSubstr(path)) << place;
        EXPECT_THAT(said, HasSubstr("warning: " + at("run") + ": going on from step 8")) << said;
        train(at("run"));
        EXPECT_EQ(content(at("run")).at("metrics.jsonl"), content(at("good")).at("metrics.jsonl"));
        EXPECT_EQ(read_file(path), read_file(newest(at("good"), file)));
      }
    }
  }
}

TEST_F(RunFolderTest, NeverBeginsAnewWhereAllCheckpointsAreDamaged) {
  train(at("run"));
  for (const int64_t step : RunFolder::view(at("run")).steps()) {
    fs::resize_file(fmt::format("{}/checkpoints/{}/state.json", at("run"), checkpoint_name(step)), 40);
  }
  EXPECT_THAT(refusal_of([&] { RunFolder::open(at("run")).restore(); }),
              HasSubstr("none of its checkpoints can be"));
  EXPECT_THAT(refusal_of([&] { RunFolder::view(at("run")).load_best(); }),
              HasSubstr("none of its checkpoints can be"));
  fs::remove_all(at("run/checkpoints"));
  EXPECT_THAT(refusal_of([&] { RunFolder::open(at("run")).restore(); }),
              HasSubstr("none of its checkpoints can be"));
}

TEST_F(RunFolderTest, DamagedBestFallsBackForUse) {
  train(at("run"));
  const RunFolder run = RunFolder::view(at("run"));
  EXPECT_EQ(run.load_best().step(), run.best());
  flip(fmt::format("{}/checkpoints/{}/model.safetensors", at("run"), checkpoint_name(run.best().value())),
       100);
  testing::internal::CaptureStderr();
  const LoadedCheckpoint used = run.load_best();
  EXPECT_NE(used.step(), run.best());
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("instead of the best one"));
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

TEST_F(RunFolderTest, AFullDiskWhileSavingIsToldWithWhatStays) {
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

TEST_F(RunFolderTest, ForeignCheckpointsAreRefusedWithBothValues) {
  train(at("run"));
  const LoadedCheckpoint loaded = RunFolder::view(at("run")).load(9);
  loaded.require_tokenizer(std::string(64, 'a'));
  EXPECT_EQ(
      refusal_of([&] { loaded.require_tokenizer("bb"); }),
      fmt::format(
          "{}/checkpoints/step-00000009: was trained with another tokenizer: its fingerprint is {}, the "
          "run's tokenizer.json has bb",
          at("run"), std::string(64, 'a')));
  const std::vector<TensorSpec> same = {{"weights", StoredType::kF32, {2, 3}}};
  require_tensors(loaded.model(), same);
  const std::vector<TensorSpec> other = {{"weights", StoredType::kF32, {3, 2}}};
  EXPECT_THAT(refusal_of([&] { require_tensors(loaded.model(), other); }),
              HasSubstr("tensor 'weights' is F32 [2, 3], the configuration needs F32 [3, 2]"));
  const std::vector<TensorSpec> renamed = {{"head", StoredType::kF32, {2, 3}},
                                           {"tail", StoredType::kF32, {1}}};
  EXPECT_THAT(refusal_of([&] { require_tensors(loaded.model(), renamed); }),
              HasSubstr("missing: 'head' 'tail'; unexpected: 'weights'"));
  EXPECT_THAT(refusal_of([&] { RunFolder::view(at("run")).load(5); }),
              HasSubstr("has no checkpoint of step 5; there"));
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

TEST(CheckpointName, GoesBothWays) {
  EXPECT_EQ(checkpoint_name(300), "step-00000300");
  EXPECT_EQ(checkpoint_name(1234567890), "step-1234567890");
  EXPECT_EQ(checkpoint_step("step-00000300"), 300);
  EXPECT_EQ(checkpoint_step("step-1234567890"), 1234567890);
  for (const char* bad :
       {"step-300", "step-", "step-0000030x", "step-00000300.tril-tmp-1-2", "x", "step--0000001"}) {
    EXPECT_EQ(checkpoint_step(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace tril
