#include "tril/text/split_pattern.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tril/text/split_regex.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using Pieces = std::vector<std::string>;

Pieces split(SplitPattern pattern, std::string_view text) {
  Pieces pieces;
  for (size_t at = 0; at < text.size();) {
    const Piece piece = next_piece(pattern, text, at);
    EXPECT_GT(piece.end, at);
    pieces.emplace_back(text.substr(at, piece.end - at));
    at = piece.end;
  }
  return pieces;
}

TEST(SplitPattern, Gpt2ByHand) {
  EXPECT_EQ(split(SplitPattern::kGpt2, "It's 2 dogs'll  DON'T"),
            (Pieces{"It", "'s", " 2", " dogs", "'ll", " ", " DON", "'", "T"}));
  // A run of blanks leaves exactly one for the word behind it; only a blank (U+0020) attaches.
  EXPECT_EQ(split(SplitPattern::kGpt2, "a   b\n\n\tc  "), (Pieces{"a", "  ", " b", "\n\n", "\t", "c", "  "}));
  EXPECT_EQ(split(SplitPattern::kGpt2, "x=1;\r\n"), (Pieces{"x", "=", "1", ";", "\r\n"}));
}

TEST(SplitPattern, Gpt4ByHand) {
  EXPECT_EQ(split(SplitPattern::kGpt4, "it'LL 12345 (ab)\n\n x"),
            (Pieces{"it", "'LL", " ", "123", "45", " (", "ab", ")\n\n", " x"}));
  EXPECT_EQ(split(SplitPattern::kGpt4, "a \n \n  b"), (Pieces{"a", " \n \n", " ", " b"}));
  EXPECT_EQ(split(SplitPattern::kGpt4, "'\u017F 'x"), (Pieces{"'\u017F", " '", "x"}));
  // The two spellings differ at the end of the text alone.
  EXPECT_EQ(split(SplitPattern::kGpt4, "a\n  "), (Pieces{"a", "\n", "  "}));
  EXPECT_EQ(split(SplitPattern::kGpt4Tiktoken, "a\n  "), (Pieces{"a", "\n  "}));
  EXPECT_EQ(split(SplitPattern::kQwen2, "a123"), (Pieces{"a", "1", "2", "3"}));
}

TEST(SplitPattern, Digits) {
  EXPECT_EQ(split(SplitPattern::kDigits, "ab12\u0663c"), (Pieces{"ab", "1", "2", "\u0663", "c"}));
  EXPECT_EQ(split(SplitPattern::kDigitRuns, "ab12\u0663c"), (Pieces{"ab", "12\u0663", "c"}));
  EXPECT_EQ(split(SplitPattern::kWhole, "a b\n"), (Pieces{"a b\n"}));
}

TEST(SplitPattern, BrokenBytesActAsReplacementCharacters) {
  // Each text beside the same with U+FFFD where a decoder puts it: the same cuts.
  EXPECT_EQ(split(SplitPattern::kGpt2, "a\xFF\xFE b"), (Pieces{"a", "\xFF\xFE", " b"}));
  EXPECT_EQ(split(SplitPattern::kGpt2, "a\uFFFD\uFFFD b"), (Pieces{"a", "\uFFFD\uFFFD", " b"}));
  // E2 82 is one broken sequence, so it may lead a word as one sign may; FF FF are two.
  EXPECT_EQ(split(SplitPattern::kGpt4, "\xE2\x82x"), (Pieces{"\xE2\x82x"}));
  EXPECT_EQ(split(SplitPattern::kGpt4, "\xFF\xFFx"), (Pieces{"\xFF\xFF", "x"}));
  EXPECT_EQ(split(SplitPattern::kGpt2, "\xED\xA0\x80"), (Pieces{"\xED\xA0\x80"}));  // a surrogate
}

TEST(SplitPattern, OpenWhereTheEndWasLookedAt) {
  EXPECT_TRUE(next_piece(SplitPattern::kGpt2, "abc", 0).open);
  EXPECT_FALSE(next_piece(SplitPattern::kGpt2, "abc de", 0).open);
  EXPECT_TRUE(next_piece(SplitPattern::kGpt2, "  ", 0).open);
  EXPECT_TRUE(next_piece(SplitPattern::kGpt2, "'", 0).open);
  EXPECT_TRUE(next_piece(SplitPattern::kGpt2, "'v", 0).open);
  EXPECT_TRUE(next_piece(SplitPattern::kGpt2, "abc\xC3", 0).open);  // C3 A9 would be a letter
}

/// Characters that both libraries know: they may carry different versions of Unicode.
std::vector<char32_t> known_characters() {
  const SplitRegex unassigned("\\p{Cn}", SplitBehavior::kRemoved, false);
  std::vector<char32_t> known;
  for (char32_t c = 1; c <= 0x10FFFF; ++c) {
    const int category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    // U+180E is a blank to PCRE2 alone: PreTokenizer hides it.
    const bool thin = c >= 0x20000 && c % 64;  // large blocks of one category are thinned out
    if (thin || category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CS || c == 0x180E) continue;
    std::string text;
    append_utf8(c, text);
    RegexBudget budget(text.size());
    if (unassigned.next(text, 0, true, budget).drop) continue;
    known.push_back(c);
  }
  return known;
}

std::vector<std::string> hostile_texts() {
  const std::vector<char32_t> known = known_characters();
  std::mt19937 random(7);
  const std::string small = "abXY09 '  \n\r\t.!sStTlLvVeErRdDmM";
  std::vector<std::string> texts;
  for (size_t at = 0; at < known.size(); at += 499) {
    std::string alone, apart;
    for (size_t i = at; i < std::min(at + 499, known.size()); ++i) {
      append_utf8(known[i], alone);
      append_utf8(known[i], apart);
      apart += " a'"[i % 3];
    }
    texts.push_back(alone);
    texts.push_back(apart);
  }
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    for (unsigned length = random() % 40; length > 0; --length) {
      if (random() % 4 == 0) {
        append_utf8(known[random() % known.size()], text);
      } else {
        text += small[random() % small.size()];
      }
    }
    texts.push_back(text);
  }
  return texts;
}

class HandWritten : public testing::TestWithParam<SplitPattern> {};

/// PCRE2 runs the expression as it is published; the hand-written rule must cut in the same places.
TEST_P(HandWritten, CutsAsPcre2Does) {
  const SplitRegex regex(std::string(pattern_source(GetParam())), SplitBehavior::kIsolated, false);
  static const std::vector<std::string> texts = hostile_texts();
  for (const std::string& text : texts) {
    RegexBudget budget(text.size());
    for (size_t at = 0; at < text.size();) {
      const Piece expected = regex.next(text, at, true, budget);
      const Piece got = next_piece(GetParam(), text, at);
      ASSERT_EQ(text.substr(at, got.end - at), text.substr(at, expected.end - at)) << text;
      at = expected.end;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, HandWritten,
                         testing::Values(SplitPattern::kGpt2, SplitPattern::kGpt4,
                                         SplitPattern::kGpt4Tiktoken, SplitPattern::kQwen2));

TEST(SplitPattern, SourcesAreKnownAgain) {
  for (const auto pattern :
       {SplitPattern::kGpt2, SplitPattern::kGpt4, SplitPattern::kGpt4Tiktoken, SplitPattern::kQwen2}) {
    EXPECT_EQ(known_pattern(pattern_source(pattern)), pattern);
  }
  EXPECT_EQ(known_pattern("[a-z]+"), std::nullopt);
}

TEST(SplitPattern, LongRunsAreOnePieceEach) {
  for (const char* unit : {"a", " ", "\n", "!", "\u00E9", "\u4E00", "\xFF"}) {
    std::string run;
    while (run.size() < 1'000'000) run += unit;
    EXPECT_EQ(split(SplitPattern::kGpt2, run).size(), 1u);
    EXPECT_EQ(split(SplitPattern::kGpt4, run).size(), 1u);
  }
}

}  // namespace
}  // namespace tril
