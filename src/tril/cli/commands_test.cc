#include "tril/cli/commands.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tril/base/error.h"
#include "tril/base/file.h"

namespace tril::cli {
namespace {

TEST(CommandsPage, IsMadeFromTheProgram) {
  const std::string path = std::string(TRIL_SOURCE_DIR) + "/docs/commands.md";
  if (std::getenv("TRIL_REGENERATE") != nullptr) write_file_atomically(path, commands_page());
  EXPECT_EQ(read_file(path), commands_page());
}

TEST(Commands, NamesAreUniqueAndTheirHelpIsAscii) {
  std::set<std::string> names;
  for (const Command& command : commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    Options options(command.name, command.summary);
    Common common;
    declare(command, options, common);
    for (const char c : options.help()) EXPECT_LT(static_cast<unsigned char>(c), 0x80) << command.name;
  }
}

struct Values {
  std::string word;
  std::optional<std::string> other, text;
  std::vector<std::string> many;
  std::optional<int64_t> whole;
  std::optional<double> real;
  bool flag = false;
};

Values parsed(const std::vector<std::string>& words) {
  Values v;
  Options options("x", "summary");
  options.word("FIRST", v.word, "a word");
  options.optional_word("A|B", v.other, "another");
  options.text("--text", "TEXT", v.text, "text");
  options.texts("--many", "TEXT", v.many, "texts");
  options.integer("--whole", v.whole, -5, 5, "integer");
  options.real("--real", v.real, 0, 1, "real", Options::Ends::above_low);
  options.flag("--flag", v.flag, "flag");
  options.parse(words);
  return v;
}

std::string fault(const std::vector<std::string>& words) {
  try {
    parsed(words);
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

TEST(Options, ValuesAreTakenAsTheyStand) {
  const Values v =
      parsed({"--many", "[a,b]", "w", "--many=", "--text", "--flag", "--whole=-5", "--real", "1e-3", "-"});
  EXPECT_EQ(v.word, "w");
  EXPECT_EQ(v.other, "-");
  EXPECT_EQ(v.text, "--flag");  // the word after an option that needs one is its value
  EXPECT_EQ(v.many, (std::vector<std::string>{"[a,b]", ""}));
  EXPECT_EQ(v.whole, -5);
  EXPECT_EQ(v.real, 1e-3);
  EXPECT_FALSE(v.flag);
  EXPECT_EQ(parsed({"--text", "", "w"}).text, "");
  EXPECT_EQ(parsed({"--flag", "--", "--text"}).word, "--text");
  EXPECT_EQ(parsed({"--text=a=b", "w"}).text, "a=b");
}

TEST(Options, Faults) {
  EXPECT_EQ(fault({"w", "--real", "0"}), "--real must be above 0 and at most 1, is 0");
  EXPECT_EQ(fault({"w", "--real", "1e400"}), "--real must be a finite number, is '1e400'");
  EXPECT_EQ(fault({"w", "--real", "0,5"}), "--real must be a finite number, is '0,5'");
  EXPECT_EQ(fault({"w", "--real", "nan"}), "--real must be a finite number, is 'nan'");
  EXPECT_EQ(fault({"w", "--whole", "6"}), "--whole must be -5 to 5, is 6");
  EXPECT_EQ(fault({"w", "b", "c"}), "unexpected word 'c'; usage: tril x FIRST [A|B] [options]");
  EXPECT_EQ(fault({"w", "--wole", "3"}),
            "unknown option '--wole'; the nearest is '--whole'; see: tril help x");
  EXPECT_EQ(fault({"--text"}), "--text needs a value: --text TEXT");
  EXPECT_EQ(fault({}), "FIRST is missing; usage: tril x FIRST [A|B] [options]");
  EXPECT_EQ(fault({"w", "--text", "a", "--text", "b"}), "--text is given 2 times");
}

}  // namespace
}  // namespace tril::cli
