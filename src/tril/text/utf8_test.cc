#include "tril/text/utf8.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(Utf8, ValidTextHasNoBadByte) {
  EXPECT_EQ(first_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("plain text, more than eight bytes"), std::nullopt);
  EXPECT_EQ(first_invalid_utf8("é 世 😀 \xF4\x8F\xBF\xBF \xED\x9F\xBF \xEE\x80\x80"), std::nullopt);
}

TEST(Utf8, BadBytesAreFoundAtTheirOffset) {
  EXPECT_EQ(first_invalid_utf8("\x80"), 0u);
  EXPECT_EQ(first_invalid_utf8("12345678abc\xFF"), 11u);
  EXPECT_EQ(first_invalid_utf8("a\xC0\xAF"), 1u);                          // overlong "/"
  EXPECT_EQ(first_invalid_utf8("a\xE0\x80\x80"), 1u);                      // overlong NUL
  EXPECT_EQ(first_invalid_utf8("a\xF0\x8F\xBF\xBF"), 1u);                  // overlong U+FFFF
  EXPECT_EQ(first_invalid_utf8("\xED\xA0\x80"), 0u);                       // a surrogate
  EXPECT_EQ(first_invalid_utf8("\xF4\x90\x80\x80"), 0u);                   // U+110000
  EXPECT_EQ(first_invalid_utf8("\xF5\x80\x80\x80"), 0u);                   // no such first byte
  EXPECT_EQ(first_invalid_utf8("happy.\n\xE2\x82"), 7u);                   // cut by the end
  EXPECT_EQ(first_invalid_utf8("\xC3(\xA9"), 0u);                          // second byte is plain ASCII
  EXPECT_EQ(first_invalid_utf8(std::string_view("\xE2\x82\xAC", 2)), 0u);  // no read past the view
}

TEST(Utf8, RequireNamesTheOffset) {
  try {
    require_utf8("ab\xFFg", "notes.txt");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "notes.txt: byte 2: not valid UTF-8 (0xFF); save the text as UTF-8");
  }
}

TEST(Utf8, EveryCodePointIsWrittenAndReadBack) {
  std::string text;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    text.clear();
    append_utf8(c, text);
    ASSERT_EQ(first_invalid_utf8(text), std::nullopt) << code_point_name(c);
    const CodePoint back = code_point_at(text, 0);
    ASSERT_EQ(back.value, c);
    ASSERT_EQ(static_cast<size_t>(back.length), text.size());
  }
}

TEST(Utf8, InvalidBytesReadAsReplacement) {
  EXPECT_EQ(code_point_at("\xFFx", 0).value, 0xFFFDu);
  EXPECT_EQ(code_point_at("\xFFx", 0).length, 1);
  EXPECT_EQ(code_point_at("a\xE2\x82", 1).length, 1);
}

TEST(Utf8, CountsAndOffsets) {
  EXPECT_EQ(count_code_points("aé世😀"), 4);
  EXPECT_EQ(code_point_offset("aé世😀", 0), 0u);
  EXPECT_EQ(code_point_offset("aé世😀", 3), 6u);
  EXPECT_EQ(code_point_offset("aé世😀", 4), 10u);
  EXPECT_EQ(code_point_offset("aé世😀", 99), 10u);
  EXPECT_EQ(code_point_name(0xE9), "U+00E9");
  EXPECT_EQ(code_point_name(0x1F600), "U+1F600");
}

}  // namespace
}  // namespace tril
