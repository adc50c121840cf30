#include "tril/text/words.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>
#include <vector>

#include "tril/text/normalize.h"

namespace tril {
namespace {

std::vector<std::string> words(std::string_view text) {
  const std::string normal = normalize(text);
  WordScanner scanner(normal);
  std::vector<std::string> found;
  for (std::string_view token; scanner.next(token);) found.emplace_back(token);
  return found;
}

using Words = std::vector<std::string>;

TEST(Words, AsciiRule) {
  EXPECT_EQ(words("Don't stop, it's 12x3!"), (Words{"don't", "stop", ",", "it's", "12", "x", "3", "!"}));
  EXPECT_EQ(words("'tis a'b'c dogs' ''"), (Words{"'", "tis", "a'b", "'", "c", "dogs", "'", "'", "'"}));
  EXPECT_EQ(words("it'1 a'"), (Words{"it", "'", "1", "a", "'"}));
  EXPECT_EQ(words("a-b <EOS> $5.00"), (Words{"a", "-", "b", "<", "eos", ">", "$", "5", ".", "00"}));
  EXPECT_EQ(words(" \n"), Words{});
}

TEST(Words, UnderscoreIsDroppedAndCounted) {
  WordScanner scanner("_a_b__");
  std::string_view token;
  EXPECT_TRUE(scanner.next(token));
  EXPECT_EQ(token, "a");
  EXPECT_TRUE(scanner.next(token));
  EXPECT_EQ(token, "b");
  EXPECT_FALSE(scanner.next(token));
  EXPECT_EQ(scanner.dropped(), 4);
}

TEST(Words, LettersOfEveryScriptWithTheirMarks) {
  EXPECT_EQ(words("Élan ÅNGSTRÖM d'été"), (Words{"élan", "ångström", "d'été"}));
  EXPECT_EQ(words("привет, мир"), (Words{"привет", ",", "мир"}));
  EXPECT_EQ(words("हिन्दी में"), (Words{"हिन्दी", "में"}));  // vowel signs and virama are marks
  EXPECT_EQ(words("שָׁלוֹם"), (Words{"שָׁלוֹם"}));
  EXPECT_EQ(words("我喜欢。雪"), (Words{"我喜欢", "。", "雪"}));
  EXPECT_EQ(words("x\u0301'y\u0302"), (Words{"x\u0301'ŷ"}));
}

TEST(Words, DigitsOfEveryScriptAndOtherNumbers) {
  EXPECT_EQ(words("٣٤ १२3 ½"), (Words{"٣٤", "१२3", "1", "⁄", "2"}));
  EXPECT_EQ(words("〇 ௰"), (Words{"〇", "௰"}));  // numbers that are no decimal digits: one token each
}

TEST(Words, OtherVisibleCharactersAreOneTokenEach) {
  EXPECT_EQ(words("“Hi” don’t…"), (Words{"“", "hi", "”", "don", "’", "t", ".", ".", "."}));
  EXPECT_EQ(words("👍🏽👨\u200D👩"), (Words{"👍", "🏽", "👨", "\u200D", "👩"}));
  EXPECT_EQ(words("\u0301a"), (Words{"\u0301", "a"}));  // a mark with no letter before it
  EXPECT_EQ(words(std::string_view("a\0b", 3)), (Words{"a", std::string("\0", 1), "b"}));
}

TEST(Words, AsciiAgreesWithTheRegularExpression) {
  const std::regex rule("[a-z]+(?:'[a-z]+)?|[0-9]+|[^\\w\\s]");
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (uint32_t i = 0, n = random() % 24; i < n; ++i) text.push_back("abzAZ'09_ -.<\t\n"[random() % 15]);
    const std::string normal = normalize(text);
    Words want;
    for (std::sregex_iterator it(normal.begin(), normal.end(), rule), end; it != end; ++it)
      want.push_back(it->str());
    ASSERT_EQ(words(text), want) << text;
  }
}

}  // namespace
}  // namespace tril
