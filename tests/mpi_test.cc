// Training by several ranks, as mpirun starts them: the losses of one process, what is refused, and what is
// left when a rank dies. What it leaves out: the same over a network (tests/mpi_over_network.sh).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

std::string find_mpirun() {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (fs::exists(folder + "/mpirun")) return folder + "/mpirun";
  return "";
}

int64_t lines_with(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  int64_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.rfind(start, 0) == 0 ? 1 : 0;
  return count;
}

std::vector<double> losses(const std::string& run) {
  std::vector<double> found;
  std::istringstream lines(read_file(run + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);)
    found.push_back(Json::parse(line)["train_batch_loss"].get<double>());
  return found;
}

class MpiProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (mpirun_.empty() || !fs::exists(fs::path(TRIL_PROGRAM).parent_path() / "tril_mpi.so"))
      GTEST_SKIP() << "no mpirun";
  }

  ProgramOptions mpirun() const {
    // Two mpiruns that share a place for their own files may take them from each other.
    return {.environment = {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                            "ASAN_OPTIONS=detect_leaks=0", "TMPDIR=" + folder_.path()},
            .folder = folder_.path(),
            .program = mpirun_};
  }
  static Words ranks(int count, const Words& words, const Words& before = {}) {
    Words all = before;
    all.insert(all.end(), {"-n", std::to_string(count), TRIL_PROGRAM});
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
  ProgramResult start(const Words& words) const {
    Words all = {"--oversubscribe"};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, mpirun());
  }
  /// `first` beside `second`, which is rank 1.
  ProgramResult beside(const Words& first, const Words& second, const Words& before = {}) const {
    Words all = ranks(1, first, before);
    all.push_back(":");
    for (const std::string& word : ranks(1, second)) all.push_back(word);
    return start(all);
  }
  void expect_refused(const ProgramResult& result, const std::string& line) const {
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("tril: " + line));
    EXPECT_EQ(lines_with(result.err, "tril: "), 1) << "rank 0 alone speaks: " << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(fs::exists(folder_ / "run"));
  }

  const std::string mpirun_ = find_mpirun();
  const TemporaryFolder folder_;
};

Words window(const std::string& out, const Words& more = {}, int64_t steps = 20) {
  Words words = {"train", "one-head-smoke", "--out", out, "--quiet", "--steps", std::to_string(steps)};
  for (const char* setting :
       {"data.stories=60", "train.batch=32", "train.eval_every=10", "train.log_every=1"})
    words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words decoder(const std::string& out) {
  Words words = {"train", "shakespeare-char", "--out", out, "--quiet", "--data", "tales"};
  for (const char* setting :
       {"data.stories=60", "train.batch=4", "train.eval_every=10", "train.eval_examples=500",
        "model.layers=2", "model.d_model=32", "model.hidden=64", "model.context=16", "train.steps=20",
        "train.log_every=1", "model.dropout=0.1"})
    words.insert(words.end(), {"--set", setting});
  return words;
}

TEST_F(MpiProgram, OneTwoAndFourRanksGiveTheSameLosses) {
  for (const auto& model : {window("w"), decoder("d")}) {
    std::vector<double> first;
    for (const int count : {1, 2, 4}) {
      Words words = model;
      words[3] += std::to_string(count);
      words.push_back("--json");
      const ProgramResult result = start(ranks(count, words));
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const Json document = Json::parse(result.out);
      EXPECT_EQ(document["steps"], 20);
      EXPECT_EQ(count == 1 ? Json(1) : document["ranks"]["count"], count);
      const std::vector<double> found = losses(folder_ / words[3]);
      ASSERT_EQ(found.size(), 20U);
      if (count == 1) first = found;
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], first[i], 1e-5) << count << " " << i;
    }
  }
}

TEST_F(MpiProgram, RanksGoOnFromTheFilesOfTheFirst) {
  ASSERT_EQ(start(ranks(2, window("unbroken"))).exit_code, 0);
  ASSERT_EQ(start(ranks(2, window("run", {}, 12))).exit_code, 0);
  const ProgramResult resumed = start(ranks(2, {"resume", "run", "--steps", "20"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("2 ranks by "));
  const std::vector<double> a = losses(folder_ / "unbroken"), b = losses(folder_ / "run");
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
  const ProgramResult alone = run_program({"resume", "run", "--steps", "22"}, {.folder = folder_.path()});
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_THAT(alone.err, HasSubstr("trained so far with ranks 2, this is 1"));
}

/// Ranks that go on from a base model.
class MpiTuning : public MpiProgram {
 protected:
  void SetUp() override {
    MpiProgram::SetUp();
    if (IsSkipped()) return;
    for (const char* base : {"base", "other"}) {
      Words words = decoder(folder_ / base);
      std::replace(words.begin(), words.end(), std::string("train.steps=20"), std::string("train.steps=3"));
      words.insert(words.end(), {"--seed", base[0] == 'b' ? "1" : "2"});
      ASSERT_EQ(run_program(words, {.folder = folder_.path()}).exit_code, 0);
    }
  }
  Words tune(const std::string& out, const std::string& base, const Words& settings, int steps = 20) const {
    Words words = {"train",       "--from",  folder_ / base,        "--data",  "tales", "--out",
                   folder_ / out, "--steps", std::to_string(steps), "--quiet", "--set", "data.stories=60"};
    for (const char* setting : {"train.log_every=1", "train.eval_every=4", "train.learning_rate=0.01"})
      words.insert(words.end(), {"--set", setting});
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return words;
  }
  void expect_same(const std::string& a, const std::string& b) const {
    const std::vector<double> first = losses(folder_ / a), second = losses(folder_ / b);
    ASSERT_EQ(first.size(), second.size());
    for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(first[i], second[i], 1e-5) << b << " " << i;
  }
};

TEST_F(MpiTuning, BaseModelsAdaptersAndFrozenPartsGiveTheSameLosses) {
  int number = 0;
  for (const Words& settings :
       {Words{}, Words{"lora.rank=2", "lora.alpha=4"}, Words{"train.freeze=blocks.0,token_embedding"}}) {
    const std::string run = fmt::format("run{}-", number++);
    for (const int count : {1, 2, 4}) {
      const std::string out = run + std::to_string(count);
      const ProgramResult result = start(ranks(count, tune(out, "base", settings)));
      ASSERT_EQ(result.exit_code, 0) << result.err;
      expect_same(run + "1", out);
    }
    EXPECT_LT(losses(folder_ / (run + "4")).back(), losses(folder_ / (run + "4")).front());
  }
}

// The second rank stands in a folder of its own, where nothing may appear, and has its base elsewhere.
TEST_F(MpiTuning, TheFirstRankAloneWritesTheAdapterAndAllGoOnWithIt) {
  const Words settings = {"lora.rank=2"};
  fs::create_directory(folder_ / "elsewhere");
  fs::copy(folder_ / "base", folder_ / "copy", fs::copy_options::recursive);
  ASSERT_EQ(start(ranks(1, tune("unbroken", "base", settings))).exit_code, 0);
  Words all = ranks(1, tune("run", "base", settings, 12)), second = tune("run", "copy", settings, 12);
  all.insert(all.end(), {":", "-wdir", folder_ / "elsewhere", "-n", "1", TRIL_PROGRAM});
  all.insert(all.end(), second.begin(), second.end());
  const ProgramResult begun = start(all);
  ASSERT_EQ(begun.exit_code, 0) << begun.err;
  EXPECT_TRUE(fs::is_empty(folder_ / "elsewhere"));
  const ProgramResult resumed = start(ranks(4, {"resume", "run", "--steps", "20"}));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  expect_same("unbroken", "run");
}

TEST_F(MpiTuning, OtherWeightsAreRefusedByTheirDigest) {
  const Words settings = {"lora.rank=2"};
  expect_refused(beside(tune("run", "base", settings), tune("run", "other", settings)),
                 "rank 1: other settings: train.from_sha256 = ");
}

TEST_F(MpiProgram, ALaunchWithoutMpiIsRefusedByEachRank) {
  fs::copy(TRIL_PROGRAM, folder_ / "tril");  // without its modules
  Words words = {"-n", "2", folder_ / "tril"};
  for (const std::string& word : window("run")) words.push_back(word);
  const ProgramResult result = start(words);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("tril: mpirun started 2 ranks, and this tril has no MPI: install "));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(MpiProgram, RanksThatDontDivideTheBatchAreRefused) {
  expect_refused(start(ranks(3, window("run"))),
                 "train.batch 32 can't be shared out among 3 ranks: take a multiple of 3");
}

TEST_F(MpiProgram, RanksWithOtherSettingsOrDataAreRefused) {
  expect_refused(beside(window("run"), window("run", {"--seed", "5"})),
                 "rank 1: other settings: train.seed = 11 on rank 0, train.seed = 5 here");
  std::ofstream(folder_ / "a.txt") << "one two three\n\ntwo three one\n\nthree two one one\n";
  std::ofstream(folder_ / "b.txt") << "one two three\n\ntwo three one\n\nthree two one two\n";
  const Words more = {"--set", "data.split=none", "--set", "data.min_count=1", "--data"};
  Words a = window("run", more), b = a;
  a.emplace_back("a.txt"), b.emplace_back("b.txt");
  expect_refused(beside(a, b), "rank 1: other data: SHA-256 ");
  b.back() = "none.txt";
  expect_refused(beside(a, b), "rank 1: ");
}

TEST_F(MpiProgram, AFirstRankThatIsRefusedEndsAll) {
  expect_refused(start(ranks(2, window("run", {"--set", "train.step=3"}))), "--set");
  expect_refused(start(ranks(2, {"resume", "nothing"})), "nothing");
  expect_refused(start(ranks(2, window("/proc/x"))), "/proc/x");
}

TEST_F(MpiProgram, NoRoomOnTheFirstRanksDiskEndsAllAndKeepsTheRun) {
  const ProgramResult full = beside(window("run"), window("run"), {"-x", "TRIL_FAULT=write:40:full"});
  EXPECT_EQ(full.exit_code, 2) << full.err;
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
  EXPECT_EQ(lines_with(full.err, "tril: run: the checkpoint of step "), 1) << full.err;
  EXPECT_EQ(run_program({"resume", "run", "--quiet"}, {.folder = folder_.path()}).exit_code, 0);
  EXPECT_EQ(losses(folder_ / "run").size(), 20U);
}

TEST_F(MpiProgram, ANonFiniteLossIsToldOnce) {
  const ProgramResult broken =
      start(ranks(2, window("run", {"--set", "train.learning_rate=1e9", "--set", "train.clip=0"})));
  EXPECT_EQ(broken.exit_code, 3) << broken.err;
  EXPECT_EQ(lines_with(broken.err, "tril: training stopped "), 1) << broken.err;
}

/// A long run by two ranks, and the process of the second.
class MpiSignals : public MpiProgram {
 protected:
  Words long_run() const {
    Words words = window("run", {"--set", "train.checkpoint_every=20"}, 100000);
    *std::find(words.begin(), words.end(), "train.eval_every=10") = "train.eval_every=100000";
    return words;
  }
  pid_t rank(pid_t parent, int number) const {
    const std::string wanted = "OMPI_COMM_WORLD_RANK=" + std::to_string(number);
    std::istringstream children(read_file(fmt::format("/proc/{}/task/{}/children", parent, parent)));
    for (pid_t child = 0; children >> child;)
      if (read_file(fmt::format("/proc/{}/environ", child)).find(wanted + '\0') != std::string::npos)
        return child;
    return 0;
  }
  void wait_for(const std::string& file) const {
    for (int tries = 0; tries < 6000 && !fs::exists(folder_ / file); ++tries) ::usleep(5000);
    ASSERT_TRUE(fs::exists(folder_ / file)) << file;
  }
  int64_t last_step() const {
    return Json::parse(read_file(folder_ / "run/last.json"))["step"].get<int64_t>();
  }
};

TEST_F(MpiSignals, ARankKilledInMidStepEndsTheRunAtItsLastCheckpoint) {
  Words words = {"--oversubscribe"};
  for (const std::string& word : ranks(2, long_run())) words.push_back(word);
  Program program(words, mpirun());
  wait_for("run/checkpoints/step-00000040");
  const pid_t second = rank(program.pid(), 1);
  ASSERT_GT(second, 0);
  ::kill(second, SIGKILL);
  const ProgramResult result = program.wait();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
  const int64_t last = last_step();
  EXPECT_EQ(last % 20, 0) << "a checkpoint of its own would need the rank that is gone";
  const ProgramResult resumed = run_program({"resume", "run", "--steps", std::to_string(last + 5), "--quiet"},
                                            {.folder = folder_.path()});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(losses(folder_ / "run").size(), static_cast<size_t>(last + 5));
}

TEST_F(MpiSignals, CtrlCSavesOnce) {
  for (const bool at_second : {false, true}) {
    fs::remove_all(folder_ / "run");
    Words words = {"--oversubscribe"};
    for (const std::string& word : ranks(2, long_run())) words.push_back(word);
    Program program(words, mpirun());
    wait_for("run/checkpoints/step-00000020");
    if (at_second)
      ::kill(rank(program.pid(), 1), SIGTERM);
    else
      program.kill(SIGINT);
    const ProgramResult result = program.wait();
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(lines_with(result.err, "tril: interrupted after step "), 1) << result.err;
    const int64_t last = last_step();
    EXPECT_EQ(losses(folder_ / "run").size(), static_cast<size_t>(last));
    const ProgramResult resumed = start(ranks(2, {"resume", "run", "--steps", std::to_string(last + 3)}));
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  }
}

TEST_F(MpiProgram, ATimeIsSettledForAllRanks) {
  const ProgramResult timed =
      start(ranks(2, {"train", "one-head-smoke", "--set", "data.stories=60", "--set", "train.batch=64",
                      "--minutes", "0.03", "--out", "run", "--json"}));
  ASSERT_EQ(timed.exit_code, 0) << timed.err;
  EXPECT_THAT(timed.err, HasSubstr("the run ends after "));
  EXPECT_EQ(lines_with(timed.err, "step 1: "), 1) << timed.err;
}

TEST_F(MpiProgram, AProfileIsTheFirstRanks) {
  ASSERT_EQ(start(ranks(2, window("run", {"--profile"}))).exit_code, 0);
  const std::string trace = read_file(folder_ / "run/profile.json");
  EXPECT_FALSE(Json::parse(trace)["traceEvents"].empty());
  EXPECT_THAT(trace, HasSubstr("sum over ranks"));
}

TEST_F(MpiProgram, TheVersionSaysWhichMpi) {
  EXPECT_THAT(run_program({"--version"}).out, testing::ContainsRegex("\nMPI +[^n]"));
}

}  // namespace
}  // namespace tril
