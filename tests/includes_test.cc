// Every file that uses one of these names of the standard library includes its header, itself or by a header
// of ours: another release of the library need not bring it along by chance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tril {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = TRIL_SOURCE_DIR;

const std::map<std::string, std::vector<std::string>> kNames = {
    {"<algorithm>",
     {"any_of",      "all_of",      "none_of", "copy",       "copy_n",  "count",     "count_if",
      "equal",       "fill",        "fill_n",  "find",       "find_if", "is_sorted", "lower_bound",
      "max_element", "min_element", "max",     "min",        "clamp",   "reverse",   "sort",
      "stable_sort", "transform",   "unique",  "upper_bound"}},
    {"<array>", {"array"}},
    {"<atomic>", {"atomic"}},
    {"<chrono>", {"chrono"}},
    {"<cstdlib>", {"abs", "abort", "getenv"}},
    {"<cstring>", {"memcmp", "memcpy", "memmove", "memset", "strlen"}},
    {"<functional>", {"function"}},
    {"<iterator>", {"back_inserter", "distance", "istreambuf_iterator", "make_move_iterator"}},
    {"<limits>", {"numeric_limits"}},
    {"<map>", {"map"}},
    {"<memory>", {"make_shared", "make_unique", "shared_ptr", "unique_ptr"}},
    {"<mutex>", {"lock_guard", "mutex", "once_flag"}},
    {"<numeric>", {"accumulate", "gcd", "iota"}},
    {"<optional>", {"nullopt", "optional"}},
    {"<set>", {"set"}},
    {"<thread>", {"this_thread", "thread"}},
    {"<unordered_map>", {"unordered_map"}},
};

/// The names after "std::" in code; comments and the text of strings are left out.
std::set<std::string> names_used(const std::string& code) {
  std::set<std::string> used;
  bool quoted = false;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!quoted && code.compare(i, 2, "//") == 0) i = std::min(code.find('\n', i), code.size() - 1);
    if (code[i] == '\\') {
      ++i;
      continue;
    }
    if (code[i] == '"' && (i == 0 || code[i - 1] != '\'')) quoted = !quoted;
    if (code[i] == '\n') quoted = false;
    if (quoted || code.compare(i, 5, "std::") != 0) continue;
    size_t end = i + 5;
    while (end < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[end])) != 0 || code[end] == '_'))
      ++end;
    used.insert(code.substr(i + 5, end - i - 5));
  }
  return used;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Adds what a file includes, and what those of our own headers include.
void add_includes(const fs::path& file, std::set<std::string>& found) {
  std::istringstream lines(read(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("#include ", 0) != 0) continue;
    const std::string name = line.substr(9, line.find_first_of(">\"", 10) - 8);
    if (!found.insert(name).second || name[0] != '"') continue;
    for (const fs::path& folder : {kRoot / "src", file.parent_path(), kRoot / "tests", kRoot})
      if (fs::exists(folder / name.substr(1, name.size() - 2))) {
        add_includes(folder / name.substr(1, name.size() - 2), found);
        break;
      }
  }
}

TEST(Includes, EveryNameOfTheStandardLibraryHasItsHeader) {
  int files = 0;
  for (const char* folder : {"src", "tests"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() != ".cc" && path.extension() != ".h") continue;
      ++files;
      std::set<std::string> included;
      add_includes(path, included);
      const std::set<std::string> used = names_used(read(path));
      for (const auto& [header, names] : kNames) {
        if (included.count(header) != 0) continue;
        for (const std::string& name : names)
          EXPECT_EQ(used.count(name), 0u)
              << fs::relative(path, kRoot) << " uses std::" << name << " without " << header;
      }
    }
  }
  EXPECT_GT(files, 100);
}

TEST(Includes, NamesInCommentsAndTextAreNotUses) {
  EXPECT_EQ(names_used("std::max(1, 2); // std::min\nf(\"std::map\");\nstd::set<int> s;"),
            (std::set<std::string>{"max", "set"}));
}

}  // namespace
}  // namespace tril
