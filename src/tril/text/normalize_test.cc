#include "tril/text/normalize.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <random>

#include "tril/text/utf8.h"

namespace tril {
namespace {

TEST(Normalize, AsciiIsLowerCasedAndCollapsed) {
  EXPECT_EQ(normalize(""), "");
  EXPECT_EQ(normalize(" \t\r\n\v\f"), "");
  EXPECT_EQ(normalize("  One  Day,\r\n\tLILY\n"), "one day, lily");
  EXPECT_EQ(normalize("a"), "a");
  EXPECT_EQ(normalize(std::string_view("a\0B\x1F", 4)), std::string_view("a\0b\x1F", 4));  // controls stay
}

TEST(Normalize, CompatibilityFormsBecomeOneSpelling) {
  EXPECT_EQ(normalize("ﬁne ＡＢ１ ² Ⅷ ㎏ ｶﾞ"), "fine ab1 2 viii kg ガ");
  EXPECT_EQ(normalize("E\u0301 \u00C9 e\u0301"), "é é é");              // ASCII letter and mark compose
  EXPECT_EQ(normalize("a\u0301\u0323"), "ạ\u0301");                     // marks are put in order
  EXPECT_EQ(normalize("\u1112\u1161\u11AB"), "한");                     // Hangul by its formula
  EXPECT_EQ(normalize("\uFDFA").find(' '), std::string("صلى").size());  // eighteen characters from one
}

TEST(Normalize, LowerCaseIsTheFullMappingWithoutContext) {
  EXPECT_EQ(normalize("İ"), "i\u0307");
  EXPECT_EQ(normalize("ΟΔΟΣ"), "οδοσ");
  EXPECT_EQ(normalize("ß ẞ Ǆ"), "ß ß dž");
  EXPECT_EQ(normalize("İ\u0327"), "i\u0327\u0307");  // the dot above comes after the cedilla
}

TEST(Normalize, EveryWhiteSpaceIsOneSpace) {
  EXPECT_EQ(normalize("a\u0085b\u00A0c\u1680d\u2000e\u200Af\u2028g\u2029h\u202Fi\u205Fj\u3000k"),
            "a b c d e f g h i j k");
  EXPECT_EQ(normalize("\u3000a \u2003\n b\u00A0"), "a b");
  EXPECT_EQ(normalize("a\u200Bb\uFEFFc"), "a\u200Bb\uFEFFc");  // zero-width characters are no white space
  EXPECT_EQ(normalize("\u00B4"), "\u0301");                    // a spacing accent is a space and a mark
}

TEST(Normalize, TwiceIsOnce) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(c, text);
    const std::string once = normalize(text);
    ASSERT_EQ(normalize(once), once) << code_point_name(c);
  }
}

TEST(Normalize, TwiceIsOnceForRandomSequences) {
  // Letters with and without case, marks of many classes, Hangul parts, white space, in any order.
  static constexpr char32_t kPieces[] = {'a',    'I',    ' ',    0x130,  0xC9,   0x3A3,  0x301,
                                         0x323,  0x327,  0x345,  0x338,  '=',    '<',    0x1100,
                                         0x1161, 0x11A8, 0xAC00, 0xFB01, 0x2028, 0x1E9E, 0x0F73,
                                         0x0F71, 0x212B, 0x3D3,  0x5B0,  0x64B,  0xFE0F};
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint32_t i = 0, n = random() % 8; i < n; ++i)
      append_utf8(kPieces[random() % std::size(kPieces)], text);
    const std::string once = normalize(text);
    ASSERT_EQ(normalize(once), once) << text;
  }
}

/// The definition, by utf8proc over the whole text at once.
std::string by_utf8proc(const std::string& text) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &mapped, options);
  std::string out(reinterpret_cast<char*>(mapped), static_cast<size_t>(size));
  free(mapped);
  return out;
}

TEST(Normalize, PiecewiseNfkcIsNfkcOfTheWhole) {
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    std::string text;  // caseless, so that normalization is NFKC alone
    static constexpr char32_t kPieces[] = {'a',   'e',   '=',    '1',    0x301,  0x323,
                                           0x345, 0x338, 0x1100, 0x1161, 0x11A8, 0xE9};
    for (uint32_t i = 0, n = random() % 9; i < n; ++i)
      append_utf8(kPieces[random() % std::size(kPieces)], text);
    ASSERT_EQ(normalize(text), by_utf8proc(text)) << text;
  }
}

TEST(Normalize, LongRunsOfMarksAreSorted) {
  std::string text = "a", want = "a";
  constexpr int kMarks = 200000;  // quadratic ordering would take minutes
  for (int i = 0; i < kMarks; ++i) text += i % 2 == 0 ? "\u0334" : "\u0316";
  for (int i = 0; i < kMarks; ++i) want += i < kMarks / 2 ? "\u0334" : "\u0316";
  EXPECT_EQ(normalize(text), want);
}

}  // namespace
}  // namespace tril
