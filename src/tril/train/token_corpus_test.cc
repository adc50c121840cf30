#include "tril/train/token_corpus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tril/base/error_testing.h"
#include "tril/formats/token_file.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/word_tokenizer.h"
#include "tril/train/run_data.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

// Ids of the characters a … d, twenty of them: 0 1 2 3 0 1 …
class TokenCorpusTest : public testing::Test {
 protected:
  TokenCorpusTest() {
    for (int32_t i = 0; i < 20; ++i) ids_.push_back(i % 4);
    write_file_atomically(folder_ / "t.json", CharTokenizer({U'a', U'b', U'c', U'd'}).to_json());
    settings_.path = folder_ / "x.bin";
    settings_.tokenizer = folder_ / "t.json";
    settings_.split = "tail";
  }
  Corpus corpus(int bits) {
    write_token_file(settings_.path, ids_, bits);
    CorpusOptions quiet;
    quiet.announce = false;
    return token_corpus(settings_, quiet);
  }
  std::string refusal() {
    return refusal_of([&] { corpus(16); });
  }

  TemporaryFolder folder_;
  DataSettings settings_;
  std::vector<int32_t> ids_;
};

TEST_F(TokenCorpusTest, IsTheFilesIdsInEitherWidth) {
  for (const int bits : {16, 32}) {
    const Corpus made = corpus(bits);
    EXPECT_EQ(made.train().ids, std::vector<int32_t>(ids_.begin(), ids_.begin() + 18)) << bits;
    EXPECT_EQ(made.validation().ids, (std::vector<int32_t>{2, 3})) << bits;  // the last tenth
    EXPECT_EQ(made.validation().text_bytes, 2);
    EXPECT_EQ(made.train().content, 18);
    EXPECT_EQ(made.source.kind, "tokens");
    EXPECT_EQ(made.source.bytes, 20 * bits / 8);
    EXPECT_EQ(made.audit.notes.at(0), settings_.path + ": 20 ids of " + std::to_string(bits) + " bits");
    EXPECT_EQ(made.audit.parts[0].targets, 17);
  }
  settings_.split = "none";
  EXPECT_EQ(corpus(16).train().ids, ids_);
  EXPECT_TRUE(corpus(16).validation().ids.empty());
}

TEST_F(TokenCorpusTest, AnIdOutsideTheVocabularyIsNamedWithItsPosition) {
  ids_[7] = 4;
  EXPECT_EQ(refusal(), settings_.path +
                           ": position 7: id 4 is outside the vocabulary of 4; read as 16-bit ids, as the "
                           "file has no header and "
                           "not every second 16-bit word is 0 (0 of 10 are)");
}

TEST_F(TokenCorpusTest, WhatNeedsTheTextIsRefused) {
  const std::string holds = settings_.path + ": holds ids of tokens, ";
  settings_.split = "hash";
  EXPECT_EQ(refusal(), holds + "and data.split = \"hash\" needs the text itself");
  settings_.split = "auto";
  settings_.tokenizer = "bpe";
  EXPECT_EQ(refusal(), holds + "not text: name the tokenizer they belong to, --set data.tokenizer=FILE");
  CorpusOptions options;
  options.announce = false;
  options.tokenizer = std::make_shared<WordTokenizer>(std::vector<std::string>{"a"});
  EXPECT_EQ(refusal_of([&] { token_corpus(settings_, options); }),
            holds + "and a word tokenizer, which keeps documents apart, needs the text itself");
}

// The same run, from the text and from its ids.
TEST_F(TokenCorpusTest, TrainsAsItsTextDoes) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "abcd";
  ids_.clear();
  for (const char c : text) ids_.push_back(c - 'a');
  write_token_file(settings_.path, ids_, 16);
  write_file_atomically(folder_ / "x.txt", text);
  const auto losses = [&](const std::string& name, const std::string& path) {
    ConfigBuilder builder;
    builder.add_toml("preset = \"shakespeare-char\"", "t");
    for (const std::string& setting :
         {"data.path=" + path, "data.tokenizer=" + settings_.tokenizer, std::string("model.d_model=8"),
          std::string("model.hidden=8"), std::string("model.layers=1"), std::string("model.heads=2"),
          std::string("model.context=8"), std::string("train.steps=3"), std::string("train.warmup=0")})
      builder.set(setting);
    RunFolder run = RunFolder::create(folder_ / name);
    train_run(run, builder.finish());
    return metrics_without_times(folder_ / name);
  };
  const std::string from_text = losses("text", folder_ / "x.txt");
  EXPECT_FALSE(from_text.empty());
  EXPECT_EQ(losses("ids", settings_.path), from_text);
}

}  // namespace
}  // namespace tril
