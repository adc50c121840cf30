// docs/cases.md: what users of other programs ran into, and the tests that hold what is right here. Each
// number has a test, the comment above that test carries the number, and the page names exactly those tests.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace tril {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TRIL_SOURCE_DIR;
using Tests = std::map<int, std::set<std::string>>;

// "Case 17", "Cases 15 and 16", "case 33", anywhere in a comment.
std::set<int> numbers_in(const std::string& comment) {
  static const std::regex named("[Cc]ases? ([0-9]+(?:(?:,| and) [0-9]+)*)"), digits("[0-9]+");
  std::set<int> found;
  for (std::sregex_iterator at(comment.begin(), comment.end(), named), end; at != end; ++at) {
    const std::string list = (*at)[1];
    for (std::sregex_iterator n(list.begin(), list.end(), digits); n != end; ++n)
      found.insert(std::stoi(n->str()));
  }
  return found;
}

void read_tests(const fs::path& path, Tests& tests) {
  static const std::regex test("^TEST(?:_F|_P)?\\(([A-Za-z0-9]+), *([A-Za-z0-9]+)\\)");
  std::ifstream file(path);
  std::string comment;
  for (std::string line; std::getline(file, line);) {
    std::smatch name;
    if (line.rfind("//", 0) == 0) {
      comment += line.substr(2);
    } else if (std::regex_search(line, name, test)) {
      for (const int number : numbers_in(comment)) tests[number].insert(name[1].str() + "." + name[2].str());
      comment.clear();
    } else if (line.rfind("template", 0) != 0) {
      comment.clear();
    }
  }
}

Tests tests_of_the_source() {
  Tests tests;
  for (const char* folder : {"src", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder))
      if (entry.path().string().ends_with("_test.cc")) read_tests(entry.path(), tests);
  return tests;
}

// Rows "| 17 | what | `Suite.Name`, `Suite.Name` |".
Tests tests_of_the_page() {
  static const std::regex row("^\\| ([0-9]+) \\|"), test("`([A-Za-z0-9]+\\.[A-Za-z0-9]+)`");
  Tests tests;
  std::ifstream page(kRoot / "docs/cases.md");
  for (std::string line; std::getline(page, line);) {
    std::smatch number;
    if (!std::regex_search(line, number, row)) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), test), end; at != end; ++at)
      tests[std::stoi(number[1])].insert((*at)[1]);
  }
  return tests;
}

std::string listed(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "`" : ", `") + name + "`";
  return all;
}

TEST(Cases, NumbersAreReadFromComments) {
  EXPECT_EQ(numbers_in("Cases 9 and 11: merges"), (std::set<int>{9, 11}));
  EXPECT_EQ(numbers_in("Cases 1, 2 and 30 (case 4)"), (std::set<int>{1, 2, 4, 30}));
  EXPECT_EQ(numbers_in("in any case it is 7"), std::set<int>());
}

TEST(Cases, EachHasATestAndThePageNamesIt) {
  const Tests source = tests_of_the_source(), page = tests_of_the_page();
  std::set<int> wanted = {52, 53, 54};
  for (int number = 1; number <= 44; ++number) wanted.insert(number);
  for (const int number : wanted) {
    EXPECT_TRUE(source.count(number)) << "no test carries the number of case " << number;
    EXPECT_TRUE(page.count(number)) << "docs/cases.md has no row for case " << number;
  }
  for (const auto& [number, tests] : source) {
    const auto row = page.find(number);
    EXPECT_EQ(row == page.end() ? "" : listed(row->second), listed(tests)) << "case " << number;
  }
  for (const auto& [number, tests] : page)
    EXPECT_TRUE(source.count(number)) << "case " << number << ", " << listed(tests);
}

}  // namespace
}  // namespace tril
