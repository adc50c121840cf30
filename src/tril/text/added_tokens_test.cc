#include "tril/text/added_tokens.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

constexpr size_t kNone = std::string_view::npos;

std::vector<AddedToken> tokens() {
  std::vector<AddedToken> tokens(4);
  tokens[0] = {.id = 1, .content = "<bos>"};
  tokens[1] = {.id = 2, .content = "<bos>x", .special = false, .lstrip = true, .rstrip = true};
  tokens[2] = {.id = 3, .content = "word", .special = false, .single_word = true};
  tokens[3] = {.id = 4, .content = "late", .special = false, .normalized = true};
  return tokens;
}

TEST(AddedTokens, TheLeftmostAndOfThoseTheLongest) {
  const auto all = tokens();
  const AddedTokenMatcher matcher(all, false);
  auto match = matcher.find("a<bos>b<bos>x", 0, true, Specials::kAsTokens);
  EXPECT_EQ(match.token->id, 1);
  EXPECT_EQ(match.begin, 1u);
  EXPECT_EQ(match.end, 6u);
  match = matcher.find("a<bos>b<bos>x", 6, true, Specials::kAsTokens);
  EXPECT_EQ(match.token->id, 2);
  EXPECT_EQ(match.end, 13u);
  EXPECT_EQ(matcher.find("late", 0, true, Specials::kAsTokens).begin, kNone);  // of the other pass
  EXPECT_EQ(AddedTokenMatcher(all, true).find("late", 0, true, Specials::kAsTokens).token->id, 4);
}

TEST(AddedTokens, SpecialTokensAreTextUnlessAsked) {
  const auto all = tokens();
  const AddedTokenMatcher matcher(all, false);
  EXPECT_EQ(matcher.find("a<bos>b", 0, true, Specials::kAsText).token, nullptr);
  EXPECT_EQ(matcher.find("a<bos>x", 0, true, Specials::kAsText).token->id, 2);  // not special: always matched
}

TEST(AddedTokens, StripsBlanksAroundAndKeepsWordsWhole) {
  const auto all = tokens();
  const AddedTokenMatcher matcher(all, false);
  const auto match = matcher.find("a \u3000<bos>x\n\tb", 0, true, Specials::kAsText);
  EXPECT_EQ(match.begin, 1u);
  EXPECT_EQ(match.end, 13u);
  EXPECT_EQ(matcher.find("swords", 0, true, Specials::kAsText).token, nullptr);
  EXPECT_EQ(matcher.find("word_", 0, true, Specials::kAsText).token, nullptr);
  EXPECT_EQ(matcher.find("\u00E9word", 0, true, Specials::kAsText).token, nullptr);
  EXPECT_EQ(matcher.find("a word.", 0, true, Specials::kAsText).begin, 2u);
}

TEST(AddedTokens, WhatMoreTextMayChangeIsNotGiven) {
  const auto all = tokens();
  const AddedTokenMatcher matcher(all, false);
  const auto match = matcher.find("ab  <bos>", 0, false, Specials::kAsTokens);
  EXPECT_EQ(match.token, nullptr);
  EXPECT_EQ(match.safe, 2u);  // an x may follow, and then the blanks belong to <bos>x
  EXPECT_EQ(matcher.find("ab  <bos>yyyyyyyyy", 0, false, Specials::kAsTokens).token->id, 1);
  EXPECT_EQ(matcher.find("no token at all", 0, false, Specials::kAsTokens).safe, 15u);
}

}  // namespace
}  // namespace tril
