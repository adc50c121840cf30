// The same program on older processors, by an emulator: it chooses its code when it starts. What it leaves
// out: processors without SSE2, which no 64-bit one lacks.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "program.h"

namespace tril {
namespace {

// The emulator's path; "" where it is not installed (Debian's package qemu-user).
std::string emulator() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/qemu-x86_64")) return folder + "/qemu-x86_64";
  return "";
}

ProgramResult on(const std::string& processor, std::vector<std::string> words) {
  words.insert(words.begin(), {"-cpu", processor, TRIL_PROGRAM});
  return run_program(words, {.program = emulator()});
}

// Case 52: without AVX2, without AVX, and without SSSE3 it lists its presets and trains to the same losses.
TEST(OtherCpu, CodeIsChosenWhenTheProgramStarts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "no emulator runs a program with a sanitizer";
#endif
#ifndef __x86_64__
  GTEST_SKIP() << "no x86-64";
#endif
  if (emulator().empty()) GTEST_SKIP() << "no qemu-x86_64 (package qemu-user)";
  TemporaryFolder folder;
  const std::vector<std::string> tiny = {"train", "tiny-gpt-abc", "--steps", "3", "--threads",
                                         "1",     "--quiet"};
  const auto with_out = [&](const std::string& out) {
    std::vector<std::string> words = tiny;
    words.insert(words.end(), {"--out", folder / out, "--json"});
    return words;
  };
  for (const std::string processor : {"Nehalem", "Westmere", "qemu64"}) {
    const ProgramResult listed = on(processor, {"presets"});
    EXPECT_EQ(listed.exit_code, 0) << processor << listed.err;
    EXPECT_EQ(listed.out, run_program({"presets"}).out) << processor;
    const ProgramResult trained = on(processor, with_out(processor));
    EXPECT_EQ(trained.exit_code, 0) << processor << trained.err;
    EXPECT_NE(trained.out.find("\"train_batch_loss\": 1.3135"), std::string::npos) << trained.out;
    const ProgramResult written = on(
        processor, {"generate", folder / processor, "--prompt", "abc", "--greedy", "--max-new-tokens", "4"});
    EXPECT_EQ(written.exit_code, 0) << processor << written.err;
  }
}

}  // namespace
}  // namespace tril
