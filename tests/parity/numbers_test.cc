// The stored numbers belong to the scripts beside them: every file names the SHA-256 of its scripts and the
// version of PyTorch that requirements.txt pins. After a change of a script, regenerate.sh makes the numbers
// anew.
#include "numbers.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tril::parity {
namespace {

TEST(ParityNumbers, EveryFileMatchesItsScriptsAndThePinnedVersion) {
  const std::string pins = read_file(kFolder + "requirements.txt");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    const auto numbers = load(entry.path().stem().string());
    ASSERT_TRUE(numbers.contains("scripts"));
    EXPECT_GE(numbers["scripts"].size(), 1u);
    for (const auto& [script, hash] : numbers["scripts"].items()) {
      EXPECT_EQ(sha256_hex(read_file(kFolder + script)), hash.get<std::string>())
          << script << " is not the script that made these numbers: run tests/parity/regenerate.sh --write";
    }
    if (numbers.contains("torch")) {
      EXPECT_NE(pins.find("torch==" + numbers["torch"].get<std::string>() + "\n"), std::string::npos);
    }
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace tril::parity
