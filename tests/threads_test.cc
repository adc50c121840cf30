// --threads N is all the threads there are, whatever OMP_NUM_THREADS says, and the weights don't depend on
// it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

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

TEST(ThreadsProgram, OneThreadIsOneWhateverOpenMPIsTold) {
  TemporaryFolder folder;
  EXPECT_EQ(most_threads(words(folder / "one", "1"), {.environment = {"OMP_NUM_THREADS=8"}}), 1);
  EXPECT_EQ(run_program(words(folder / "three", "3"), {.environment = {"OMP_NUM_THREADS=8"}}).exit_code, 0);
  const auto weights = [&](const std::string& run) {
    return read_file(folder / (run + "/checkpoints/step-00000040/model.safetensors"));
  };
  EXPECT_EQ(weights("one"), weights("three"));
}

}  // namespace
}  // namespace tril
