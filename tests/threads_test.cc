// --threads N is all the threads there are, whatever OMP_NUM_THREADS says, and the weights don't depend on
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

std::vector<std::string> words(const std::string& out, const std::string& threads) {
  return {"train", "one-head-smoke",      "--quiet",   "--steps", "40",    "--set", "data.stories=60",
          "--set", "train.eval_every=20", "--threads", threads,   "--out", out};
}

// The most threads the process was seen with while it ran.
int most_threads(const std::vector<std::string>& arguments, const ProgramOptions& options) {
  Program program(arguments, options);
  const std::string tasks = "/proc/" + std::to_string(program.pid()) + "/task";
  int most = 0;
  std::error_code gone;
  for (;;) {
    int count = 0;
    for (auto task = std::filesystem::directory_iterator(tasks, gone);
         !gone && task != std::filesystem::directory_iterator(); task.increment(gone))
      ++count;
    std::ifstream status("/proc/" + std::to_string(program.pid()) + "/stat");
    std::string line;
    std::getline(status, line);
    if (gone || line.empty() || line.find(") Z ") != std::string::npos) break;
    most = std::max(most, count);
  }
  EXPECT_EQ(program.wait().exit_code, 0);
  return most;
}

// Case 53: the number of threads is told, used, and limited by one option; OpenMP and a foreign runtime have
// no say.
TEST(ThreadsProgram, OneThreadIsOneWhateverOpenMPIsTold) {
  TemporaryFolder folder;
  EXPECT_EQ(most_threads(words(folder / "one", "1"), {.environment = {"OMP_NUM_THREADS=8"}}), 1);
  EXPECT_EQ(run_program(words(folder / "three", "3"), {.environment = {"OMP_NUM_THREADS=8"}}).exit_code, 0);
  const auto weights = [&](const std::string& run) {
    return read_file(folder / (run + "/checkpoints/step-00000040/model.safetensors"));
  };
  EXPECT_EQ(weights("one"), weights("three"));
}

// Case 41, of generation: the same text, token by token with the same probabilities, whatever the threads.
TEST(ThreadsProgram, TheSameTextForAnyNumber) {
  TemporaryFolder folder;
  std::vector<std::string> seen;
  for (const std::string threads : {"1", "2", "3", "8"}) {
    std::vector<std::string> train = {
        "train", "shakespeare-char", "--quiet", "--steps", "20", "--threads", threads,
        "--out", folder / threads};
    for (const char* setting : {"data.path=tales", "data.stories=30", "model.layers=2", "train.batch=4",
                                "train.eval_examples=200", "train.warmup=2"})
      train.insert(train.end(), {"--set", setting});
    const ProgramResult trained = run_program(train);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    seen.push_back(run_program({"generate", folder / threads, "--prompt", "One day", "--max-new-tokens", "80",
                                "--samples", "3", "--top", "2", "--json", "--threads", threads})
                       .out);
  }
  EXPECT_NE(seen[0], "");
  for (const std::string& other : seen) EXPECT_EQ(other, seen[0]);
}

// Case 53: told before the work begins.
TEST(ThreadsProgram, TheirNumberIsTold) {
  TemporaryFolder folder;
  for (const auto& [threads, told] :
       {std::pair("1", "; about 1 s on 1 thread\n"), {"3", " on 3 threads\n"}}) {
    const std::vector<std::string> tiny = {"train", "tiny-gpt-abc", "--steps", "2", "--threads", threads};
    std::vector<std::string> words = tiny;
    words.insert(words.end(), {"--out", folder / threads});
    const ProgramResult trained = run_program(words);
    EXPECT_NE(trained.err.find(told), std::string::npos) << trained.err;
    words = tiny;
    words.emplace_back("--dry-run");
    EXPECT_NE(run_program(words).out.find(std::string(told).substr(std::string(told).find(" on "))),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tril
