#include "tril/text/unicode.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

using enum CharacterClass;

TEST(Unicode, ClassesOfCharacters) {
  for (const char32_t c : {U'a', U'Z', U'é', U'ß', U'я', U'א', U'ह', U'我', U'ʰ', U'ª', U'𝒳'}) {
    EXPECT_EQ(character_class(c), kLetter) << static_cast<uint32_t>(c);
  }
  for (const char32_t c : {U'\u0301', U'\u093F', U'\u20DD', U'\uFE0F'}) EXPECT_EQ(character_class(c), kMark);
  for (const char32_t c : {U'0', U'9', U'٣', U'१', U'\U0001D7CE'}) EXPECT_EQ(character_class(c), kDigit);
  for (const char32_t c : {U' ', U'\t', U'\u00A0', U'\u3000', U'\u2028'})
    EXPECT_EQ(character_class(c), kSpace);
  EXPECT_EQ(character_class('_'), kUnderscore);
  for (const char32_t c :
       {U'\0', U'\x1F', U'.', U'\'', U'²', U'Ⅷ', U'€', U'\u200D', U'\uE000', U'\U0010FFFF'}) {
    EXPECT_EQ(character_class(c), kOther) << static_cast<uint32_t>(c);
  }
}

TEST(Unicode, WhiteSpaceHasTwentyFiveCharacters) {
  int count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) count += is_white_space(c);
  EXPECT_EQ(count, 25);  // PropList.txt: White_Space
  EXPECT_FALSE(is_white_space(0x200B));
  EXPECT_FALSE(is_white_space(0x1C));
}

TEST(Unicode, ScriptsWithoutSpaces) {
  for (const char32_t c : {U'我', U'ひ', U'カ', U'ส', U'ຂ', U'က', U'ក'})
    EXPECT_TRUE(is_written_without_spaces(c));
  for (const char32_t c : {U'a', U'я', U'한', U'。', U'ह'}) EXPECT_FALSE(is_written_without_spaces(c));
}

}  // namespace
}  // namespace tril
