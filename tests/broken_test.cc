// Each check can fail: programs built with one line of an op broken must be caught by the row that is there
// for it.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace tril {
namespace {

std::string failing_rows(const std::string& broken) {
  const std::string program = std::string(TRIL_PROGRAM) + "_broken_" + broken;
  FILE* pipe = popen(program.c_str(), "r");
  if (pipe == nullptr) return "can't run " + program;
  std::string out;
  std::array<char, 256> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) out += line.data();
  return pclose(pipe) == 0 ? "\n" + out : "failed to run: " + out;
}

void expect_fails(const std::string& broken, const std::string& row) {
  const std::string rows = failing_rows(broken);
  EXPECT_NE(rows.find("\n" + row + "\n"), std::string::npos)
      << "broken: " << broken << ", failing rows:" << rows;
}

TEST(Broken, NothingFailsWhereNothingIsBroken) {
  EXPECT_EQ(failing_rows("nothing"), "\n");
}
TEST(Broken, AMaskOffByOneShowsTheFuture) {
  expect_fails("mask", "future weight");
  expect_fails("mask", "causality");
  expect_fails("mask", "hand-worked weights");
}
TEST(Broken, AnUnscaledScoreIsNotTheFormula) {
  expect_fails("scale", "weights by formula");
  expect_fails("scale", "hand-worked scores");
}
TEST(Broken, ASoftmaxOverTheWrongAxisDoesNotSumToOne) {
  expect_fails("softmax_axis", "row sums");
}
TEST(Broken, ADroppedGradientDiffersFromDifferences) {
  expect_fails("gradient_dropped", "gradients, small");
  expect_fails("gradient_dropped", "gradients");
}
TEST(Broken, AnOverwrittenGradientDiffersFromDifferences) {
  expect_fails("gradient_overwritten", "gradients, small");
}

}  // namespace
}  // namespace tril
