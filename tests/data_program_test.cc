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

// Case 3: a text is UTF-8 in every locale.
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

// Case 1: nothing to train on is one line that names the file, and nothing is written.
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

TEST_F(DataProgram, WhatNeedNotEndGetsOneLine) {
  for (const char* device : {"/dev/zero", "/dev/urandom"}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"data", "audit", device},
             {"data", "tokenize", device},
             {"train", device, "--dry-run"},
             {"train", "--data", device, "--dry-run"},
             {"data", "train-tokenizer", device, "--vocab", "300", "--out", "t"},
             {"data", "tokenize", "-", "--tokenizer", device},
             {"show", device}}) {
      const auto result = run_program(words, {.input = "a", .folder = folder_});
      EXPECT_EQ(result.exit_code, 2) << words[1];
      EXPECT_THAT(result.err, HasSubstr(": is a device, which need not end"));
      EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    }
  }
}

TEST_F(DataProgram, TokenizeNamesOddBytesAsAnAuditDoes) {
  write("mark.txt", "\xEF\xBB\xBFone two");
  const auto tokenized = [&](std::vector<std::string> words, const std::string& input = "") {
    words.insert(words.begin(), {"data", "tokenize"});
    return run_program(words, {.input = input, .folder = folder_});
  };
  const auto marked = tokenized({"mark.txt"});
  EXPECT_EQ(marked.out, "one two\n");
  EXPECT_THAT(marked.err, HasSubstr("mark.txt: the byte-order mark at its start is dropped"));
  EXPECT_THAT(tokenized({"-"}, "\xEF\xBB\xBFone").err, HasSubstr("standard input: the byte-order mark"));
  write("latin.txt", "one \xE9");
  const auto latin = tokenized({"latin.txt", "--json"});
  EXPECT_EQ(latin.exit_code, 2);
  EXPECT_EQ(latin.out, "");
  EXPECT_THAT(latin.err, HasSubstr("latin.txt: byte 4: not valid UTF-8"));
  write("empty.txt", "");
  EXPECT_EQ(tokenized({"empty.txt"}).out, "\n");
  EXPECT_EQ(json::parse(tokenized({"empty.txt", "--json"}).out)["tokens"], json::array());
}

// Nine megabytes come in three pieces; their ids are those of the whole.
TEST_F(DataProgram, ALargeFileIsTokenizedInPieces) {
  std::string text;
  while (text.size() < (9 << 20)) text += "Hello w\u00F6rld, hello don't 12!\n";
  write("large.txt", text);
  const auto audited =
      audit({"large.txt", "--json", "--set", "data.documents=whole", "--set", "data.min_count=1"});
  ASSERT_EQ(audited.exit_code, 0) << audited.err;
  const auto words = run_program({"data", "tokenize", "large.txt", "--quiet"}, {.folder = folder_});
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  EXPECT_EQ(static_cast<size_t>(std::count(words.out.begin(), words.out.end(), ' ')) + 1, 7 * lines);
  const auto result =
      json::parse(run_program({"data", "tokenize", "large.txt", "--json"}, {.folder = folder_}).out);
  EXPECT_EQ(result["count"].get<size_t>(), 7 * lines);
  EXPECT_EQ(result["tokens"].size(), 7 * lines);
}

}  // namespace
}  // namespace tril
