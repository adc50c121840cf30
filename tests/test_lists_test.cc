// The lists of tests that are left out or may be skipped: the runner reads each pattern without its reason,
// and each names a test that there is. A pattern that names none would let through what it is meant to hold
// back.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace tril {
namespace {

/// What the runner's own `list` gives, a pattern each.
std::vector<std::string> patterns(const std::string& file) {
  const std::string script =
      "cd \"" TRIL_SOURCE_DIR "\" && root=$PWD && . scripts/test.sh && list tests/" + file;
  FILE* pipe = ::popen(("bash -c '" + script + "'").c_str(), "r");
  std::vector<std::string> lines(1);
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += static_cast<char>(c);
  }
  EXPECT_EQ(::pclose(pipe), 0);
  lines.pop_back();
  return lines;
}

bool names_a_test(const std::string& pattern) {
  const auto& program = *testing::UnitTest::GetInstance();
  for (int s = 0; s < program.total_test_suite_count(); ++s) {
    const auto& suite = *program.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(t)->name();
      if (::fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
    }
  }
  return false;
}

TEST(TestLists, EveryPatternNamesATest) {
  for (const std::string file : {"slow_under_asan.txt", "allowed_skips.txt"}) {
    const std::vector<std::string> found = patterns(file);
    EXPECT_FALSE(found.empty()) << file;
    for (const std::string& pattern : found) EXPECT_TRUE(names_a_test(pattern)) << file << ": " << pattern;
  }
}

}  // namespace
}  // namespace tril
