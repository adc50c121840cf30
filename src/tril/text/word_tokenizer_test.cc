#include "tril/text/word_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

TEST(WordTokenizer, IdsFollowTheSpecials) {
  const WordTokenizer tokenizer({"the", "dog", ".", "don't"});
  EXPECT_EQ(tokenizer.vocab_size(), 8);
  EXPECT_EQ(tokenizer.kind(), "word");
  EXPECT_TRUE(tokenizer.lossy());
  EXPECT_EQ(tokenizer.pad(), 0);
  EXPECT_EQ(tokenizer.bos(), 1);
  EXPECT_EQ(tokenizer.eos(), 2);
  EXPECT_EQ(tokenizer.unk(), 3);
  EXPECT_EQ(tokenizer.encode("The DOG don't purr."), (Ids{4, 5, 7, 3, 6}));
  EXPECT_EQ(tokenizer.encode(""), Ids{});
  EXPECT_EQ(tokenizer.token_text(0), "<PAD>");
  EXPECT_EQ(tokenizer.token_text(5), "dog");
  EXPECT_EQ(tokenizer.normalized(" The\nDOG "), "the dog");
}

TEST(WordTokenizer, TextNeverGivesASpecial) {
  const WordTokenizer tokenizer({"<", ">", "eos", "pad", "unk"});
  EXPECT_EQ(tokenizer.encode("<EOS><PAD> <UNK>"), (Ids{4, 6, 5, 4, 7, 5, 4, 8, 5}));
  for (const int32_t id : tokenizer.encode("<|endoftext|> <BOS> [UNK] </s>"))
    EXPECT_GE(id, WordTokenizer::kUnk);
}

TEST(WordTokenizer, DecodeSpacesPunctuation) {
  const WordTokenizer tokenizer(
      {"she", "said", ",", "\"", "hi", "!", "(", "a", ")", ".", "dogs", "'", "it's"});
  const auto again = [&](std::string_view text) { return tokenizer.decode(tokenizer.encode(text)); };
  EXPECT_EQ(again("She said , \" hi ! \" ( a ) ."), "she said, \"hi!\" (a).");
  EXPECT_EQ(again("it's"), "it's");
  EXPECT_EQ(tokenizer.decode(Ids{1, 4, 3, 5, 2, 0}), "she <UNK> said");
  EXPECT_EQ(tokenizer.decode(Ids{}), "");
}

TEST(WordTokenizer, DecodeThenEncodeGivesTheSameIds) {
  const WordTokenizer tokenizer({"a",      "dog", "it's", "s",  "'", "\"", ".",  ",", "(",   ")",
                                 "12",     "3",   "“",    "”",  "’", "‘",  "-",  "<", "eos", ">",
                                 "\u0301", "=",   "é",    "我", "!", "?",  "हि", "{"});
  std::mt19937 random(5);
  for (int round = 0; round < 20000; ++round) {
    Ids ids(random() % 10);
    for (int32_t& id : ids) id = static_cast<int32_t>(4 + random() % (tokenizer.vocab_size() - 4));
    ASSERT_EQ(tokenizer.encode(tokenizer.decode(ids)), ids) << tokenizer.decode(ids);
  }
}

TEST(WordTokenizer, UnknownWordsAreNamedWithTheirPosition) {
  const WordTokenizer tokenizer({"the", "."});
  const auto unknown = tokenizer.unknown("The zebra. The Gnu!");
  ASSERT_EQ(unknown.size(), 3u);
  EXPECT_EQ(unknown[0].text, "zebra");
  EXPECT_EQ(unknown[0].position, 1);
  EXPECT_EQ(unknown[1].text, "gnu");
  EXPECT_EQ(unknown[1].position, 4);
  EXPECT_EQ(unknown[2].text, "!");
}

TEST(WordTokenizer, BadInputIsRefused) {
  const WordTokenizer tokenizer({"a"});
  EXPECT_EQ(refusal_of([&] { tokenizer.encode("a\xFF"); }),
            "text: byte 1: not valid UTF-8 (0xFF); save the text as UTF-8");
  EXPECT_EQ(refusal_of([&] {
              tokenizer.decode(Ids{4, 5});
            }),
            "position 1: id 5 is outside the vocabulary of 5 ids (0 to 4)");
  EXPECT_EQ(refusal_of([&] { tokenizer.decode(Ids{-1}); }),
            "position 0: id -1 is outside the vocabulary of 5 ids (0 to 4)");
  EXPECT_EQ(refusal_of([&] { WordTokenizer({"a", "b", "a"}); }), "vocabulary: 'a' has two ids, 4 and 6");
  EXPECT_EQ(refusal_of([&] { WordTokenizer({"<EOS>"}); }), "vocabulary: id 4: <EOS> is a special's name");
}

TEST(WordTokenizer, FileReadsBackToTheSameBytes) {
  const WordTokenizer tokenizer({"the", "é", "\"", "\\", std::string("\0", 1), "\u2028", "b"});
  const std::string json = tokenizer.to_json();
  const auto back = parse_tokenizer(json, "tokenizer.json");
  EXPECT_EQ(back->kind(), "word");
  EXPECT_EQ(back->to_json(), json);
  EXPECT_EQ(back->fingerprint(), tokenizer.fingerprint());
  EXPECT_EQ(back->encode("THE É \\"), tokenizer.encode("THE É \\"));
  const auto file = nlohmann::json::parse(json);
  EXPECT_TRUE(file["added_tokens"].empty());  // an added token's name in a text would become control
  EXPECT_EQ(file["model"]["vocab"]["<UNK>"], 3);
  EXPECT_NE(WordTokenizer({"the"}).fingerprint(), tokenizer.fingerprint());
}

}  // namespace
}  // namespace tril
