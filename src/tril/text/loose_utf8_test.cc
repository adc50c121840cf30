#include "tril/text/loose_utf8.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tril/text/utf8.h"

namespace tril {
namespace {

std::vector<int> lengths(std::string_view text) {
  std::vector<int> lengths;
  for (size_t at = 0; at < text.size(); at += static_cast<size_t>(std::abs(lengths.back()))) {
    const LooseChar c = loose_char_at(text, at);
    lengths.push_back(c.valid ? c.bytes : -c.bytes);
  }
  return lengths;
}

using Lengths = std::vector<int>;

// The table of Unicode 15, section 3.9 ("U+FFFD substitution of maximal subparts").
TEST(LooseUtf8, MaximalSubparts) {
  EXPECT_EQ(lengths("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), (Lengths{-1, -1, -1, -1, -1, -1, -1, -1, 1}));
  EXPECT_EQ(lengths("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), (Lengths{-1, -1, -1, -1, -1, -1, -1, -1, 1}));
  EXPECT_EQ(lengths("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), (Lengths{-1, -1, -1, -1, -1, 1, -1, -1, 1}));
  EXPECT_EQ(lengths("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), (Lengths{-2, -1, -3, -2, 1}));
}

TEST(LooseUtf8, EveryCodePointReadsAsItWasWritten) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    append_utf8(c, text);
    const LooseChar read = loose_char_at(text, 0);
    ASSERT_TRUE(read.valid && read.value == c && read.bytes == text.size()) << static_cast<uint32_t>(c);
    ASSERT_EQ(complete_prefix(text), text.size());
    ASSERT_EQ(complete_prefix(text.substr(0, text.size() - 1)), 0u);
  }
}

TEST(LooseUtf8, OnlyWhatMoreBytesMayCompleteIsLeftOut) {
  EXPECT_EQ(complete_prefix("ab\xE2\x82"), 2u);
  EXPECT_EQ(complete_prefix("ab\xF0\x9F\x98"), 2u);
  EXPECT_EQ(complete_prefix("ab\xFF"), 3u);
  EXPECT_EQ(complete_prefix("ab\xE0\x80"), 4u);  // already broken
  EXPECT_EQ(complete_prefix("ab\x80\x80"), 4u);
  EXPECT_EQ(complete_prefix(""), 0u);
}

}  // namespace
}  // namespace tril
