#include "tril/text/bpe_stream.h"

#include <gtest/gtest.h>

#include "tril/text/bpe_testing.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using namespace bpe_testing;

Ids in_chunks(const BpeTokenizer& tokenizer, std::string_view text, size_t chunk, Specials specials) {
  BpeStreamEncoder encoder(tokenizer, specials);
  Ids ids;
  for (size_t at = 0; at < text.size(); at += chunk) encoder.feed(text.substr(at, chunk), ids);
  encoder.finish(ids);
  return ids;
}

/// The small tokenizer with each kind of added token and pre-tokenizer.
std::vector<Json> files() {
  std::vector<Json> files = {small_file()};
  Json added = small_file();
  added["added_tokens"].push_back(
      {{"id", 262}, {"content", "he"}, {"special", false}, {"single_word", true}});
  added["added_tokens"].back()["id"] = 256;  // the id it has in the vocabulary
  added["added_tokens"].push_back(
      {{"id", 262}, {"content", "<w>"}, {"special", false}, {"lstrip", true}, {"rstrip", true}});
  added["added_tokens"].push_back({{"id", 263}, {"content", "123"}, {"special", true}, {"normalized", true}});
  files.push_back(added);
  Json prefixed = small_file();
  prefixed["pre_tokenizer"]["add_prefix_space"] = true;
  files.push_back(prefixed);
  Json behind = added;
  behind["pre_tokenizer"] = Json::parse(R"({"type": "Sequence", "pretokenizers": [
      {"type": "Split", "pattern": {"Regex": "(?<=l|>)[a-z]+|\\b "}, "behavior": "Isolated", "invert": false},
      {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}]})");
  files.push_back(behind);
  return files;
}

TEST(BpeStream, ChunksGiveTheIdsOfTheWhole) {
  for (const Json& file : files()) {
    const auto tokenizer = load(file);
    std::string all;
    for (const std::string& text : hostile_bytes(150)) all += text + (all.size() % 2 ? " <w> " : "he");
    for (const Specials specials : {Specials::kAsText, Specials::kAsTokens}) {
      const Ids whole = tokenizer->encode(all, specials);
      for (const size_t chunk : {1, 2, 3, 7, 64, 1000}) {
        ASSERT_EQ(in_chunks(*tokenizer, all, chunk, specials), whole)
            << chunk << " " << file["pre_tokenizer"];
      }
    }
  }
}

TEST(BpeStream, EachShortTextInBytes) {
  const auto tokenizer = load(files()[1]);
  for (const std::string& text : hostile_bytes(1000)) {
    ASSERT_EQ(in_chunks(*tokenizer, text, 1, Specials::kAsTokens),
              tokenizer->encode(text, Specials::kAsTokens));
  }
}

TEST(Utf8Stream, NeverHalfACodePoint) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80z"), "\U0001F600z");
  EXPECT_EQ(stream.push("\xE2\x82"), "");
  EXPECT_EQ(stream.finish(), "\uFFFD");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Utf8Stream, TheSameTextHoweverItIsCutAndAlwaysValid) {
  for (const std::string& bytes : hostile_bytes(500)) {
    Utf8Stream at_once, by_byte;
    std::string whole = at_once.push(bytes);
    whole += at_once.finish();
    std::string pieces;
    for (const char byte : bytes) pieces += by_byte.push({&byte, 1});
    pieces += by_byte.finish();
    ASSERT_EQ(pieces, whole);
    ASSERT_EQ(first_invalid_utf8(whole), std::nullopt);
    if (!first_invalid_utf8(bytes)) {
      ASSERT_EQ(whole, bytes);
    }
  }
}

}  // namespace
}  // namespace tril
