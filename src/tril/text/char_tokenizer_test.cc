#include "tril/text/char_tokenizer.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

CharTokenizer over(std::string_view text, bool with_bos = false) {
  return CharTokenizer(CharTokenizer::sorted_code_points(std::span(&text, 1)), with_bos);
}

TEST(CharTokenizer, SortedCodePointsAndNothingElse) {
  const CharTokenizer tokenizer = over("cabcab");
  EXPECT_EQ(tokenizer.vocab_size(), 3);
  EXPECT_EQ(tokenizer.encode("abc"), (Ids{0, 1, 2}));
  EXPECT_EQ(tokenizer.bos(), std::nullopt);
  EXPECT_EQ(tokenizer.unk(), std::nullopt);
  EXPECT_EQ(tokenizer.end_of_document(), std::nullopt);
  EXPECT_FALSE(tokenizer.lossy());
}

TEST(CharTokenizer, TextIsKeptByteForByte) {
  const std::string text =
      std::string("É\r\n\t  é e\u0301 😀 👨‍👩 \uFEFF<EOS>") + std::string("\0", 1);
  const CharTokenizer tokenizer = over(text);
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

TEST(CharTokenizer, MicrogptsBosIsTheLastId) {
  const CharTokenizer tokenizer = over("emma", true);
  EXPECT_EQ(tokenizer.vocab_size(), 4);
  EXPECT_EQ(tokenizer.bos(), 3);
  EXPECT_EQ(tokenizer.eos(), 3);
  EXPECT_EQ(tokenizer.end_of_document(), 3);
  EXPECT_EQ(tokenizer.token_text(3), "<BOS>");
  EXPECT_EQ(tokenizer.decode(Ids{3, 1, 2, 2, 0, 3}), "emma");
}

TEST(CharTokenizer, NewlineEndsADocument) {
  EXPECT_EQ(over("b\na").end_of_document(), 0);
}

// Case 29: named with its place (tests/train_cli_test.cc has the options).
TEST(CharTokenizer, UnknownCharacterIsNamedWithItsPosition) {
  const CharTokenizer tokenizer = over("abcdefghijklmnopqrstuvwxyz");
  try {
    tokenizer.encode("dé");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "text: character 2 (byte 1): 'é' (U+00E9) is not among the 26 characters of the vocabulary");
  }
  try {
    tokenizer.encode("\x1B[2J");  // nothing that moves a terminal's cursor is printed
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(std::string(refusal.what()).rfind("text: character 1 (byte 0): '\\x1b' (U+001B)", 0), 0u)
        << refusal.what();
  }
  const auto unknown = tokenizer.unknown("éa\"");
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(unknown[0].text, "é");
  EXPECT_EQ(unknown[0].position, 0);
  EXPECT_EQ(unknown[1].text, "\"");
  EXPECT_EQ(unknown[1].position, 2);
}

TEST(CharTokenizer, BadIdsAndBytesAreRefused) {
  const CharTokenizer tokenizer = over("ab");
  EXPECT_THROW(tokenizer.decode(Ids{2}), Refusal);
  EXPECT_THROW(tokenizer.decode(Ids{-1}), Refusal);
  EXPECT_THROW(tokenizer.encode("a\xE2\x82"), Refusal);
  EXPECT_THROW(CharTokenizer({'a', 'a'}), Refusal);
}

// Case 11, of characters.
TEST(CharTokenizer, FileReadsBackToTheSameBytes) {
  for (const bool with_bos : {false, true}) {
    const CharTokenizer tokenizer = over(std::string_view("a\0\n\"\\é😀\u2028", 14), with_bos);
    const auto back = parse_tokenizer(tokenizer.to_json(), "tokenizer.json");
    EXPECT_EQ(back->kind(), "char");
    EXPECT_EQ(back->to_json(), tokenizer.to_json());
    EXPECT_EQ(back->bos(), tokenizer.bos());
    EXPECT_EQ(back->encode("a\n😀"), tokenizer.encode("a\n😀"));
  }
}

}  // namespace
}  // namespace tril
