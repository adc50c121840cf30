#include "tril/data/listing.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

DataSettings text(const std::string& text, const std::string& tokenizer = "word") {
  DataSettings settings;
  settings.text = text;
  settings.tokenizer = tokenizer;
  return settings;
}

TEST(Listing, VocabularyOfTheWholeText) {
  const TokenListing listing = list_tokens(text("the dog.\n\nThe cat."));
  EXPECT_EQ(listing.ids, (std::vector<int32_t>{5, 7, 4, 5, 6, 4}));  // . 2, the 2, cat 1, dog 1
  EXPECT_TRUE(listing.unknown.empty());
  EXPECT_EQ(listing.text_bytes, 17);
}

TEST(Listing, CharactersAreOneEach) {
  EXPECT_EQ(list_tokens(text("x", "char")).ids.size(), 1u);  // no newline is invented
  EXPECT_EQ(list_tokens(text("abcabc", "char")).tokenizer->vocab_size(), 3);
}

TEST(Listing, UnknownWordsStandInTextAndJson) {
  const TokenListing listing = list_tokens(
      text("the zebra\nran"), std::make_shared<WordTokenizer>(std::vector<std::string>{"the", "ran"}));
  const auto json = listing_json(listing);
  EXPECT_EQ(json["count"], 3);
  EXPECT_EQ(json["tokens"][1]["text"], "<UNK>");
  EXPECT_EQ(json["unknown"], nlohmann::json::parse(R"([{"text": "zebra", "position": 1}])"));
  EXPECT_EQ(listing_text(listing, 0),
            "position  id  token\n"
            "       0   4  \"the\"\n"
            "       1   3  \"<UNK>\"  for \"zebra\"\n"
            "       2   5  \"ran\"\n"
            "3 word tokens from 13 bytes of text, 1 unknown; vocabulary of 6\n");
  EXPECT_NE(listing_text(listing, 1).find("… 2 more\n"), std::string::npos);
}

TEST(Listing, ControlCharactersAreEscaped) {
  EXPECT_NE(listing_text(list_tokens(text("a\n\"", "char")), 0).find("\"\\n\""), std::string::npos);
}

TEST(Listing, UnknownCharacterIsRefusedWithTheSource) {
  try {
    list_tokens(text("dé"), std::make_shared<CharTokenizer>(std::vector<char32_t>{'d'}));
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(std::string(refusal.what()).rfind("data.text: text: character 2 (byte 1): 'é'", 0), 0u)
        << refusal.what();
  }
}

}  // namespace
}  // namespace tril
