#include "tril/base/typed.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tril {
namespace {

class Typed : public testing::Test {
 protected:
  void SetUp() override { unsetenv("TRIL_COMMAND"); }
  void TearDown() override { unsetenv("TRIL_COMMAND"); }
};

TEST_F(Typed, NamesTheProgramAsTheUserDid) {
  EXPECT_EQ(typed({"resume", "runs/a"}), "tril resume runs/a");
  setenv("TRIL_COMMAND", "./tril", 1);
  EXPECT_EQ(typed({"resume", "runs/a"}), "./tril resume runs/a");
  EXPECT_EQ(typed(std::vector<std::string>{"presets"}), "./tril presets");
  setenv("TRIL_COMMAND", "/a b/tril", 1);
  EXPECT_EQ(typed({"presets"}), "'/a b/tril' presets");
  setenv("TRIL_COMMAND", "", 1);
  EXPECT_EQ(typed({"presets"}), "tril presets");
}

TEST_F(Typed, WordsCanBeGivenToAShellAgain) {
  EXPECT_EQ(shell_word("runs/shakespeare-char_2.x"), "runs/shakespeare-char_2.x");
  EXPECT_EQ(shell_word("my run"), "'my run'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("\xC3\xA9"), "'\xC3\xA9'");
}

}  // namespace
}  // namespace tril
