#include "tril/text/byte_level.h"

#include <gtest/gtest.h>

#include <set>

namespace tril {
namespace {

TEST(ByteLevel, AsGpt2WritesIt) {
  EXPECT_EQ(to_byte_level(" the\n"), "\u0120the\u010A");
  EXPECT_EQ(to_byte_level(std::string("\0\x7F\xAD\xFF\xC3\xA9", 6)), "\u0100\u0121\u0143\u00FF\u00C3\u00A9");
  EXPECT_EQ(from_byte_level("\u0120w"), " w");
  EXPECT_EQ(from_byte_level("a b"), std::nullopt);  // a blank is no character of the alphabet
  EXPECT_EQ(from_byte_level("\u4E00"), std::nullopt);
}

TEST(ByteLevel, EveryByteHasItsOwnCharacter) {
  std::set<std::string> characters;
  for (int b = 0; b < 256; ++b) {
    const std::string byte(1, static_cast<char>(b));
    characters.insert(to_byte_level(byte));
    EXPECT_EQ(from_byte_level(to_byte_level(byte)), byte);
  }
  EXPECT_EQ(characters.size(), 256u);
  EXPECT_EQ(byte_alphabet()[0], '!');    // the first ids of GPT-2
  EXPECT_EQ(byte_alphabet()[188], 0);    // U+0100
  EXPECT_EQ(byte_alphabet()[220], ' ');  // GPT-2's id of a blank
}

}  // namespace
}  // namespace tril
