// `tril data audit` as a user meets it: the same in every locale, one clear line for what can't be read, one
// document of JSON on standard output.
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"

namespace tril {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class DataProgram : public testing::Test {
 protected:
  ProgramResult audit(std::vector<std::string> words, std::vector<std::string> environment = {},
                      const std::string& input = "") const {
    words.insert(words.begin(), {"data", "audit"});
    return run_program(words, {.input = input, .environment = std::move(environment), .folder = folder_});
  }
  void write(const std::string& name, std::string_view bytes) const {
    write_file_atomically(folder_ + "/" + name, bytes);
  }

  TemporaryFolder scratch_;
  const std::string folder_ = scratch_.path();
};

TEST_F(DataProgram, TheLocaleDoesNotMatter) {
  write("a.txt", "Élan, İSTANBUL: 1,5 ÅB.\n\nZwei Häuser — один дом.\n");
  const auto plain = audit({"a.txt", "--json"}, {"LC_ALL=C"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(json::parse(plain.out)["documents"]["train"].get<int>() +
                json::parse(plain.out)["documents"]["test"].get<int>() +
                json::parse(plain.out)["documents"]["validation"].get<int>(),
            2);
  for (const char* locale : {"LC_ALL=de_DE", "LC_ALL=de_DE.UTF-8", "LC_ALL=tr_TR.UTF-8", "LC_ALL=C.UTF-8"}) {
    EXPECT_EQ(audit({"a.txt", "--json"}, {locale}).out, plain.out) << locale;
  }
}

TEST_F(DataProgram, WhatCannotBeReadGetsOneLineAndExitTwo) {
  const auto refusal = [&](const std::string& name, std::string_view bytes) {
    write(name, bytes);
    const auto result = audit({name, "--json"});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_EQ(result.out, "") << name;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(name));
    return result.err;
  };
  using namespace std::string_view_literals;
  EXPECT_THAT(refusal("empty.txt", ""), HasSubstr("no trainable text"));
  EXPECT_THAT(refusal("blank.txt", " \n\t\n"), HasSubstr("no trainable text"));
  EXPECT_THAT(refusal("wide.txt", "\xFF\xFEO\0n\0c\0e\0"sv), HasSubstr("UTF-16"));
  EXPECT_THAT(refusal("packed.txt", "\x1F\x8B\x08\0"sv), HasSubstr("gunzip"));
  EXPECT_THAT(refusal("latin.txt", "Once upon a\xE9t\xE9"), HasSubstr("byte 11"));
  EXPECT_THAT(refusal("a.jsonl", "{\"text\": \"a\"}\n{\"text\": 3}\n"), HasSubstr("line 2"));
}

TEST_F(DataProgram, OddTextIsReadWithAWarning) {
  write("nul.txt", std::string("one\0two ", 8) + std::string(200, 'x'));
  const auto result = audit({"nul.txt", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("nul.txt: 1 NUL byte, read as characters"));
  EXPECT_EQ(json::parse(result.out)["encoding"]["nul"].get<int>(), 1);
  write("cap.txt", "one one two two");
  EXPECT_THAT(audit({"cap.txt", "--set", "data.vocabulary=100000"}).err,
              HasSubstr("the vocabulary has 6 ids, not 100,000"));
}

TEST_F(DataProgram, StandardInputIsASourceToo) {
  const auto result = audit({"-"}, {}, "one word, two words");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("standard input: no validation documents"));
}

TEST_F(DataProgram, FiveMegabytesOfOneLetter) {
  write("run.txt", std::string(5'000'000, 'a'));
  const auto result = audit({"run.txt", "--json"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(json::parse(result.out)["text_bytes"]["train"].get<int>(), 5'000'000);
}

}  // namespace
}  // namespace tril
