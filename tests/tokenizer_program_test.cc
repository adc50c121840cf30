// Tokenizers through the program: training, ids, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

using nlohmann::json;

class TokenizerProgram : public testing::Test {
 protected:
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

  TemporaryFolder scratch_;
  const std::string folder_ = scratch_.path();
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

// Case 7.
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

TEST_F(TokenizerProgram, UnknownWordsAreListedWithTheirCounts) {
  write("words.json", WordTokenizer({"one", "two"}).to_json());
  write("text.txt", "one zwei two zwei drei");
  const auto result = run({"data", "tokenize", "text.txt", "--tokenizer", "words.json", "--json"});
  EXPECT_EQ(ids_of(result), (std::vector<int32_t>{4, 3, 5, 3, 3}));
  const json document = json::parse(result.out);
  EXPECT_EQ(document["unknown"],
            json::parse(R"([{"text": "zwei", "count": 2}, {"text": "drei", "count": 1}])"));
  EXPECT_EQ(document["unknown_count"].get<int>(), 3);
  EXPECT_EQ(document["tokens"], json::parse(R"(["one", "<UNK>", "two", "<UNK>", "<UNK>"])"));
  EXPECT_NE(result.err.find("warning: text.txt: 3 words outside the vocabulary, read as <UNK>"),
            std::string::npos);
}

// Case 6, the whole way: files of five million times one character, for each kind of tokenizer.
TEST_F(TokenizerProgram, AFileOfOneCharacterTakesLinearTime) {
  write("run.txt", std::string(5'000'000, 'a'));
  write("words.json", WordTokenizer({"one"}).to_json());
  write("characters.json", CharTokenizer({'a'}).to_json());
  ASSERT_EQ(run({"data", "train-tokenizer", "run.txt", "--vocab", "270", "--out", "bpe.json"}).exit_code, 0);
  const size_t expected[] = {1, 5'000'000, 0};
  const char* files[] = {"words.json", "characters.json", "bpe.json"};
  for (int i = 0; i < 3; ++i) {
    const auto result = run({"data", "tokenize", "run.txt", "--tokenizer", files[i]});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto tokens = static_cast<size_t>(std::count(result.out.begin(), result.out.end(), ' ')) + 1;
    if (expected[i] > 0) {
      EXPECT_EQ(tokens, expected[i]) << files[i];
    } else {
      EXPECT_LT(tokens, 2000u);
    }
  }
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

/// A very small BPE run, one step from its random weights.
class BpeRun : public TokenizerProgram {
 protected:
  void SetUp() override {
    TokenizerProgram::SetUp();
    std::vector<std::string> words = {"train", "tales-bpe", "--steps", "1", "--out", "r", "--quiet"};
    for (const char* setting :
         {"data.stories=40", "data.vocabulary=300", "model.layers=1", "model.d_model=16", "model.heads=2",
          "model.context=16", "train.batch=2", "train.eval_examples=16"}) {
      words.insert(words.end(), {"--set", setting});
    }
    const auto trained = run(words);
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  json generated(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"generate", "r", "--greedy", "--json", "--max-new-tokens", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
};

// Case 7, of prompts.
TEST_F(BpeRun, SpecialTokensInAPromptAreTextUnlessAsked) {
  const json text = generated({"--prompt", "<|endoftext|>a"});
  EXPECT_GT(text["prompt_tokens"].get<int>(), 2);
  EXPECT_EQ(text["text"].get<std::string>().rfind("<|endoftext|>a", 0), 0u);  // the prompt comes back
  EXPECT_EQ(generated({"--prompt", "<|endoftext|>a", "--specials"})["prompt_tokens"].get<int>(), 2);
  const auto scored = run({"score", "r", "--text", "a<|endoftext|>", "--specials", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(json::parse(scored.out)["targets"].get<int>(), 1);
}

// Case 6, of prompts.
TEST_F(BpeRun, TakesALongRunOfOneCharacter) {
  const json result = generated({"--prompt", std::string(9400, 'A')});
  EXPECT_EQ(result["text"].get<std::string>().rfind(std::string(9400, 'A'), 0), 0u);
}

// Cases 10 and 26.
TEST_F(BpeRun, ATokenizerThatDoesNotFitTheModelIsRefused) {
  json file = json::parse(read_file(folder_ + "/r/tokenizer.json"));
  const auto next = file["model"]["vocab"].size() + file["added_tokens"].size();
  file["added_tokens"].push_back({{"id", next}, {"content", "<bos>"}, {"special", true}});
  write("r/tokenizer.json", file.dump());
  const auto result = run({"generate", "r", "--prompt", "a"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("the tokenizer has 301 tokens"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("300 rows for them"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace tril
