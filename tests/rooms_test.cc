// The order of the house: which room may include which, a test beside each source, and what no file may hold.
// It reads the checkout itself. What it leaves out: formatting, which clang-format checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tril {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path kRoot = TRIL_SOURCE_DIR;

// The rooms in their order, each with the rooms that stand directly above it. A room may include itself,
// those, and all that they may include. text → data and autograd → ops → model are two chains that don't know
// each other.
const std::vector<std::pair<std::string, Names>> kRooms = {
    {"base", {}},           {"tensor", {"base"}},           {"text", {"tensor"}},
    {"data", {"text"}},     {"autograd", {"tensor"}},       {"ops", {"autograd"}},
    {"model", {"ops"}},     {"formats", {"data", "model"}}, {"train", {"formats"}},
    {"plan", {"train"}},    {"generate", {"plan"}},         {"check", {"generate"}},
    {"explore", {"check"}}, {"serve", {"explore"}},         {"cli", {"serve"}},
};

// Sources that need no test next door, each with what tests it.
const std::map<std::string, std::string> kTestedElsewhere = {
    {"src/tril/check/attention_checks.cc", "check_test.cc and tests/broken_test.cc"},
    {"src/tril/check/cache_check.cc", "check_test.cc and tests/broken_test.cc"},
    {"src/tril/check/gradient_checks.cc", "check_test.cc and tests/broken_test.cc"},
    {"src/tril/check/number_checks.cc", "check_test.cc and tests/broken_test.cc"},
    {"src/tril/check/overfit_check.cc", "check_test.cc and tests/broken_test.cc"},
    {"src/tril/explore/show_run.cc", "show_test.cc"},
    {"src/tril/train/loop_notes.cc", "loop_test.cc and tests/finetune_test.cc"},
    {"src/tril/train/follow.cc", "parallel_test.cc and tests/mpi_test.cc"},
    {"src/tril/train/more_steps.cc", "loop_test.cc and run_settings_test.cc"},
    {"src/tril/cli/main.cc", "tests/ runs the program"},
};

constexpr int kMostLines = 450;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The files of the checkout, relative to its root, sorted; not what git ignores, nor binary or stored data.
std::vector<std::string> files() {
  const Names skipped = {".git", "build", "runs", ".venv", ".cache", "node_modules", "__pycache__"};
  std::vector<std::string> found;
  for (auto at = fs::recursive_directory_iterator(kRoot); at != fs::recursive_directory_iterator(); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && skipped.count(name)) at.disable_recursion_pending();
    if (at->is_regular_file() && !skipped.count(name))
      found.push_back(fs::relative(at->path(), kRoot).generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool is_cpp(const std::string& file) {
  return ends_with(file, ".cc") || ends_with(file, ".h");
}

bool is_text(const std::string& file) {
  const Names kinds = {"",    ".cc",    ".h",  ".md", ".txt", ".toml", ".json", ".py",
                       ".sh", ".cmake", ".in", ".js", ".css", ".html", ".yml"};
  return kinds.count(fs::path(file).extension().string()) && file.rfind("tests/data/", 0) != 0;
}

/// Calls see(file, line number, line) for each line of the files that `wanted` picks.
template <class Wanted, class See>
void each_line(const Wanted& wanted, const See& see) {
  for (const std::string& file : files()) {
    if (!wanted(file)) continue;
    std::istringstream text(read(kRoot / file));
    int number = 0;
    for (std::string line; std::getline(text, line);) see(file, ++number, line);
  }
}

/// For each room, every room that it may include.
std::map<std::string, Names> allowed_includes() {
  std::map<std::string, Names> allowed;
  for (const auto& [room, above] : kRooms) {
    Names all = {room};
    for (const std::string& name : above) all.insert(allowed.at(name).begin(), allowed.at(name).end());
    allowed[room] = all;
  }
  return allowed;
}

std::string room_of(const std::string& source) {
  const std::string rest = source.substr(std::string("src/tril/").size());
  return rest.substr(0, rest.find('/'));
}

TEST(Rooms, TwoChainsMeetInFormats) {
  const auto allowed = allowed_includes();
  EXPECT_EQ(allowed.at("data"), (Names{"base", "tensor", "text", "data"}));
  EXPECT_EQ(allowed.at("model"), (Names{"base", "tensor", "autograd", "ops", "model"}));
  EXPECT_EQ(allowed.at("formats").size(), 8u);
  EXPECT_EQ(allowed.at("cli").size(), kRooms.size());
}

TEST(Rooms, IncludeOnlyThemselvesAndRoomsAbove) {
  const auto allowed = allowed_includes();
  const std::regex quoted("^\\s*#\\s*include\\s*\"([^\"]+)\"");
  const auto source = [](const std::string& file) {
    return file.rfind("src/tril/", 0) == 0 && is_cpp(file) && !ends_with(file, "_test.cc");
  };
  each_line(source, [&](const std::string& file, int number, const std::string& line) {
    std::smatch match;
    if (!std::regex_search(line, match, quoted)) return;
    const std::string included = match[1], room = room_of(file);
    ASSERT_TRUE(allowed.count(room)) << file << ": '" << room << "' is no room; add it to kRooms, in order";
    EXPECT_EQ(included.rfind("tril/", 0), 0u)
        << file << ":" << number << ": write \"tril/ROOM/FILE.h\": " << included;
    EXPECT_TRUE(allowed.at(room).count(room_of("src/" + included)))
        << file << ":" << number << ": room '" << room << "' may not include " << included;
  });
}

/// The test next door: x_test.cc for x.cc, or that of the file whose name begins its own (tales_plots.cc by
/// tales_test.cc). Empty where there is none.
std::string test_of(const std::string& source) {
  const fs::path folder = fs::path(source).parent_path();
  std::string stem = fs::path(source).stem().string();
  while (true) {
    const std::string test = (folder / (stem + "_test.cc")).generic_string();
    if (fs::exists(kRoot / test)) return test;
    const size_t cut = stem.rfind('_');
    if (cut == std::string::npos) return "";
    stem.resize(cut);
  }
}

TEST(Rooms, EverySourceHasItsTestNextDoor) {
  for (const std::string& file : files()) {
    if (file.rfind("src/tril/", 0) != 0 || !ends_with(file, ".cc") || ends_with(file, "_test.cc")) continue;
    if (file.rfind("src/tril/cli/", 0) == 0) continue;  // commands are tested by running the program (tests/)
    EXPECT_TRUE(!test_of(file).empty() || kTestedElsewhere.count(file)) << file << " has no test next door";
  }
  for (const auto& [file, where] : kTestedElsewhere)
    EXPECT_TRUE(fs::exists(kRoot / file)) << file << " is gone; it was tested by: " << where;
}

TEST(Rooms, SourcesStayShort) {
  std::map<std::string, int> lines;
  each_line(is_cpp, [&](const std::string& file, int number, const std::string&) { lines[file] = number; });
  ASSERT_FALSE(lines.empty());
  for (const auto& [file, count] : lines)
    EXPECT_LE(count, kMostLines) << file << " is long: split it by idea";
}

TEST(Rooms, NothingIsLeftUnfinished) {
  // The words are put together here so that this file does not hold them.
  const std::regex mark(
      "\\b(TO"
      "DO|FIX"
      "ME|X"
      "XX|HA"
      "CK)\\b");
  const auto ours = [](const std::string& file) {
    return is_text(file) &&
           (file.rfind("src/", 0) == 0 || file.rfind("tests/", 0) == 0 || file.rfind("bench/", 0) == 0);
  };
  each_line(ours, [&](const std::string& file, int number, const std::string& line) {
    EXPECT_FALSE(std::regex_search(line, mark)) << file << ":" << number << ": " << line;
  });
}

TEST(Rooms, NoFileNamesAMachineOrAPackageHost) {
  const std::vector<std::string> words = {std::string("/wo") + "rk/",       std::string("/ho") + "me/",
                                          std::string("/ro") + "ot/",       std::string(".lib") + "rary/",
                                          std::string("debian") + ".org",   std::string("pypi") + ".org",
                                          std::string("python") + "hosted", std::string("npmjs") + "."};
  each_line(is_text, [&](const std::string& file, int number, const std::string& line) {
    for (const std::string& word : words)
      EXPECT_EQ(line.find(word), std::string::npos) << file << ":" << number << " holds " << word;
  });
}

// Two test programs that run at once must not meet in one folder: base/folder_testing.h gives each its own.
TEST(Rooms, TestsTakeFoldersOfTheirOwn) {
  each_line(is_cpp, [&](const std::string& file, int number, const std::string& line) {
    if (file == "src/tril/base/folder_testing.h" || line.find("getpid") != std::string::npos) return;
    EXPECT_EQ(line.find(std::string("Temp") + "Dir()"), std::string::npos) << file << ":" << number;
  });
}

/// The targets that a page names: relative links, and code spans that look like a path of the checkout.
Names targets_of(const std::string& page) {
  Names targets;
  const std::string text = read(kRoot / page);
  const fs::path folder = fs::path(page).parent_path();
  const std::regex link("\\]\\(([^)\\s]+)\\)");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), link); at != std::sregex_iterator(); ++at) {
    const std::string target = (*at)[1].str().substr(0, (*at)[1].str().find('#'));
    if (target.empty() || target.find(':') != std::string::npos) continue;
    targets.insert((folder / target).lexically_normal().generic_string());
  }
  const std::regex span(
      "`((?:src|tests|docs|presets|cmake|scripts|bench|examples|python|web)/[\\w./-]*\\w)`");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), span); at != std::sregex_iterator(); ++at)
    targets.insert((*at)[1].str());
  return targets;
}

TEST(Rooms, PagesNameOnlyFilesThatExist) {
  for (const std::string& file : files()) {
    if (!ends_with(file, ".md")) continue;
    for (const std::string& target : targets_of(file))
      EXPECT_TRUE(fs::exists(kRoot / target)) << file << " names " << target << ", which does not exist";
  }
}

/// "Suite.Name" of every test, and the names of the files they stand in.
Names tests_and_their_files() {
  Names known;
  const std::regex test("^TEST(?:_F|_P)?\\(([A-Za-z0-9]+), *([A-Za-z0-9]+)\\)");
  const auto is_test = [](const std::string& file) { return ends_with(file, "_test.cc"); };
  each_line(is_test, [&](const std::string& file, int, const std::string& line) {
    known.insert(fs::path(file).filename().string());
    std::smatch name;
    if (std::regex_search(line, name, test)) known.insert(name[1].str() + "." + name[2].str());
  });
  return known;
}

TEST(Rooms, PagesNameOnlyTestsThatExist) {
  const Names known = tests_and_their_files();
  const std::regex span("`[^`]*`"), named("\\w+_test\\.cc|\\b[A-Z][A-Za-z0-9]+\\.[A-Z][A-Za-z0-9]+");
  int seen = 0;
  const auto is_page = [](const std::string& file) { return ends_with(file, ".md"); };
  each_line(is_page, [&](const std::string& file, int number, const std::string& line) {
    for (auto at = std::sregex_iterator(line.begin(), line.end(), span); at != std::sregex_iterator(); ++at) {
      const std::string text = at->str();
      for (auto name = std::sregex_iterator(text.begin(), text.end(), named); name != std::sregex_iterator();
           ++name, ++seen)
        EXPECT_TRUE(known.count(name->str())) << file << ":" << number << " names the test " << name->str();
    }
  });
  EXPECT_GT(seen, 100);
}

// A terminal need not know more than ASCII. Beyond it there are two that ask the terminal first, and quotes
// that are looked for in texts; shape errors never leave the library.
TEST(Rooms, WhatIsPrintedIsAscii) {
  const Names may = {"src/tril/base/chart.cc", "src/tril/base/route.cc", "src/tril/text/word_tokenizer.cc"};
  const auto printing = [&](const std::string& file) {
    return is_cpp(file) && file.rfind("src/tril/", 0) == 0 && file.rfind("src/tril/ops/", 0) != 0 &&
           !ends_with(file, "_test.cc") && !ends_with(file, "_testing.h") && !may.count(file);
  };
  const std::regex literal("\"(?:[^\"\\\\]|\\\\.)*\"");
  each_line(printing, [&](const std::string& file, int number, const std::string& line) {
    const std::string code = line.substr(0, line.find("//"));
    for (auto at = std::sregex_iterator(code.begin(), code.end(), literal); at != std::sregex_iterator();
         ++at) {
      const std::string text = at->str();
      EXPECT_TRUE(
          std::all_of(text.begin(), text.end(), [](char c) { return static_cast<signed char>(c) > 0; }))
          << file << ":" << number << ": " << text;
    }
  });
}

TEST(Rooms, EveryPackageHasItsLicence) {
  const Names tools = {"g++", "cmake", "ninja-build", "pkg-config"};
  const std::string page = read(kRoot / "docs/licences.md");
  int packages = 0;
  std::istringstream list(read(kRoot / "scripts/packages.txt"));
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string package, use;
    if (!(words >> package >> use) || package[0] == '#' || use == "check" || use == "fuzz") continue;
    ++packages;
    if (tools.count(package)) continue;
    EXPECT_NE(page.find(package), std::string::npos) << "docs/licences.md has no row for " << package;
  }
  EXPECT_GT(packages, 10);
}

}  // namespace
}  // namespace tril
