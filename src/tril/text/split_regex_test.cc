#include "tril/text/split_regex.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tril/base/error.h"

namespace tril {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(const SplitRegex& regex, std::string_view text) {
  Pieces pieces;
  RegexBudget budget(text.size());
  for (size_t at = 0; at < text.size();) {
    const Piece piece = regex.next(text, at, true, budget);
    if (!piece.drop) pieces.emplace_back(text.substr(at, piece.end - at));
    at = piece.end;
  }
  return pieces;
}

std::string refusal(const auto& act) {
  try {
    act();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "no refusal";
}

// The example of Hugging Face's SplitDelimiterBehavior, with its results.
TEST(SplitRegex, Behaviors) {
  const std::string text = "the-final--countdown";
  const auto with = [&](SplitBehavior behavior) { return split(SplitRegex("-", behavior, false), text); };
  EXPECT_EQ(with(SplitBehavior::kRemoved), (Pieces{"the", "final", "countdown"}));
  EXPECT_EQ(with(SplitBehavior::kIsolated), (Pieces{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(with(SplitBehavior::kMergedWithPrevious), (Pieces{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(with(SplitBehavior::kMergedWithNext), (Pieces{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(with(SplitBehavior::kContiguous), (Pieces{"the", "-", "final", "--", "countdown"}));
}

TEST(SplitRegex, InvertSwapsMatchesAndGaps) {
  EXPECT_EQ(split(SplitRegex("[a-z]+", SplitBehavior::kRemoved, true), "ab-cd--e"),
            (Pieces{"ab", "cd", "e"}));
  EXPECT_EQ(split(SplitRegex("[a-z]+", SplitBehavior::kRemoved, false), "ab-cd--e"), (Pieces{"-", "--"}));
  EXPECT_EQ(split(SplitRegex("[a-z]", SplitBehavior::kContiguous, true), "ab-cd"), (Pieces{"ab", "-", "cd"}));
}

TEST(SplitRegex, AnchorsAreThoseOfLinesAndEmptyMatchesAreNone) {
  EXPECT_EQ(split(SplitRegex("a$", SplitBehavior::kIsolated, false), "ba\nba"),
            (Pieces{"b", "a", "\nb", "a"}));
  EXPECT_EQ(split(SplitRegex("x*", SplitBehavior::kIsolated, false), "axxb"), (Pieces{"a", "xx", "b"}));
}

TEST(SplitRegex, AHostileExpressionIsRefusedInBoundedTime) {
  // Exponential, and two that are quadratic, one of them without a single backtracking step.
  const std::string run(50'000, 'a');
  for (const char* source : {"(a+)+$", "(a|aa)+$", "a+c|b", "a++c|b"}) {
    const SplitRegex regex(source, SplitBehavior::kIsolated, false);
    EXPECT_NE(refusal([&] { split(regex, run + "b"); }).find("takes too long at byte"), std::string::npos)
        << source;
  }
}

TEST(SplitRegex, ALongMatchIsNotHostile) {
  const std::string run(2'000'000, 'A');
  // o200k's word rule walks back over the whole run once, since no small letter follows.
  const SplitRegex regex("[\\p{Lu}\\p{Lo}]*[\\p{Ll}\\p{Lo}]+|[\\p{Lu}\\p{Lo}]+[\\p{Ll}\\p{Lo}]*",
                         SplitBehavior::kIsolated, false);
  EXPECT_EQ(split(regex, run), (Pieces{run}));
}

TEST(SplitRegex, WhatDoesNotCompileIsRefusedWithThePlace) {
  const auto compile = [](const std::string& source) {
    return refusal([&] { SplitRegex(source, SplitBehavior::kIsolated, false); });
  };
  EXPECT_EQ(compile("a(b"), "split pattern 'a(b': missing closing parenthesis (at byte 3)");
  EXPECT_NE(compile("((((a{999}){999}){999}){999})").find("at byte"), std::string::npos);
  EXPECT_NE(compile(std::string(100'000, 'a')).find("at byte"), std::string::npos);
  EXPECT_NE(compile(std::string(60'000, '(')).find("at byte"), std::string::npos);
}

TEST(SplitRegex, LooksBehindAndIsOpenAtTheEnd) {
  const SplitRegex regex("(?<=x)a+|b", SplitBehavior::kIsolated, false);
  EXPECT_GE(regex.lookbehind(), 1u);
  RegexBudget budget(100);
  EXPECT_EQ(regex.next("xaab", 1, true, budget).end, 3u);
  EXPECT_FALSE(regex.next("xaab", 1, false, budget).open);
  EXPECT_TRUE(regex.next("xaa", 1, false, budget).open);
}

TEST(SplitRegex, QuotedTextMatchesItself) {
  const std::string odd = "a.b*[c](d)\\ {1} #^$|?+-&~\n\u00E9";
  EXPECT_EQ(split(SplitRegex(quote_regex(odd), SplitBehavior::kIsolated, false), "_" + odd + "_"),
            (Pieces{"_", odd, "_"}));
}

TEST(SplitRegex, AScriptIsTheScriptAlone) {
  // U+30FC has the script Common, and Hiragana and Katakana as extensions; U+3005 is Han.
  EXPECT_EQ(split(SplitRegex("\\p{Katakana}+", SplitBehavior::kIsolated, false), "\u30AB\u30FC"),
            (Pieces{"\u30AB", "\u30FC"}));
  EXPECT_EQ(split(SplitRegex("[\\p{Han}]+|\\P{^Han}", SplitBehavior::kIsolated, false), "\u4E00\u3005a"),
            (Pieces{"\u4E00\u3005", "a"}));
  EXPECT_EQ(split(SplitRegex("\\\\p\\{Han}", SplitBehavior::kIsolated, false), "a\\p{Han}"),
            (Pieces{"a", "\\p{Han}"}));
}

}  // namespace
}  // namespace tril
