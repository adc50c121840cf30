// Tokenizers through the program: training, ids, and what is refused.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"

namespace tril {
namespace {

using nlohmann::json;

class TokenizerProgram : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "tril_tokenizer_program";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  ProgramResult run(const std::vector<std::string>& words, const std::string& input = "") const {
    return run_program(words, {.input = input, .folder = folder_});
  }
  void write(const std::string& name, const std::string& bytes) const {
    write_file_atomically(folder_ + "/" + name, bytes);
  }
  /// The ids that `data tokenize` prints.
  static std::vector<int32_t> ids_of(const ProgramResult& result) {
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out)["ids"].get<std::vector<int32_t>>();
  }

  std::string folder_;
};

TEST_F(TokenizerProgram, TrainsAndUsesATokenizer) {
  write("text.txt", "aab aab ab");
  const auto trained =
      run({"data", "train-tokenizer", "text.txt", "--vocab", "300", "--out", "t.json", "--json"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const json result = json::parse(trained.out);
  EXPECT_EQ(result["vocab_size"].get<int>(), 261);  // 256 bytes, 4 merges, the end token
  EXPECT_EQ(result["merges"].get<int>(), 4);
  EXPECT_EQ(result["bytes"].get<int>(), 10);
  EXPECT_NE(trained.err.find("fewer than the 300 asked for"), std::string::npos);
  EXPECT_EQ(ids_of(run({"data", "tokenize", "text.txt", "--tokenizer", "t.json", "--json"})),
            (std::vector<int32_t>{257, 259, 258}));
  const auto lines = run({"data", "tokenize", "text.txt", "--tokenizer", "t.json"});
  EXPECT_EQ(lines.out, "257 259 258\n");
}

TEST_F(TokenizerProgram, SpecialTokensInTextAreTextUnlessAsked) {
  write("text.txt", "aab aab ab");
  ASSERT_EQ(run({"data", "train-tokenizer", "text.txt", "--vocab", "257", "--out", "t.json"}).exit_code, 0);
  write("special.txt", "a<|endoftext|>");
  EXPECT_EQ(run({"data", "tokenize", "special.txt", "--tokenizer", "t.json"}).out,
            "64 27 91 68 77 67 78 69 83 68 87 83 91 29\n");
  EXPECT_EQ(run({"data", "tokenize", "special.txt", "--tokenizer", "t.json", "--specials"}).out, "64 256\n");
  EXPECT_EQ(ids_of(run({"data", "tokenize", "special.txt", "--tokenizer", "t.json", "--specials", "--json"})),
            (std::vector<int32_t>{64, 256}));
}

TEST_F(TokenizerProgram, AnyBytesHaveIds) {
  write("text.txt", "ab");
  ASSERT_EQ(run({"data", "train-tokenizer", "text.txt", "--vocab", "257", "--out", "t.json"}).exit_code, 0);
  write("bytes.txt", "a\xFF\xE2\x82");
  EXPECT_EQ(run({"data", "tokenize", "bytes.txt", "--tokenizer", "t.json"}).out, "64 187 158 224\n");
}

TEST_F(TokenizerProgram, WhatIsRefused) {
  write("empty.txt", "");
  const auto empty = run({"data", "train-tokenizer", "empty.txt", "--vocab", "300", "--out", "t.json"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_NE(empty.err.find("empty.txt"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/t.json"));
  write("text.txt", "ab");
  EXPECT_EQ(run({"data", "train-tokenizer", "text.txt", "--vocab", "256", "--out", "t.json"}).exit_code, 2);
  EXPECT_EQ(run({"data", "train-tokenizer", "text.txt", "--out", "t.json"}).exit_code, 2);
  write("u.json", R"({"model": {"type": "Unigram", "vocab": []}})");
  const auto unigram = run({"data", "tokenize", "text.txt", "--tokenizer", "u.json"});
  EXPECT_EQ(unigram.exit_code, 2);
  EXPECT_NE(unigram.err.find("Unigram"), std::string::npos);
}

}  // namespace
}  // namespace tril
