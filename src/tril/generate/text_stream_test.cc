#include "tril/generate/text_stream.h"

#include <gtest/gtest.h>

#include <random>

#include "tril/base/error.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

struct Collected {
  std::vector<std::string> pieces;
  std::function<void(std::string_view)> sink() {
    return [this](std::string_view piece) { pieces.emplace_back(piece); };
  }
};
using Pieces = std::vector<std::string>;

// Case 30: a stop text that spans two tokens.
TEST(TextStream, AStopTextAcrossPiecesIsRemoved) {
  Collected seen;
  TextStream stream({"END"}, seen.sink());
  EXPECT_FALSE(stream.push("one E"));
  EXPECT_FALSE(stream.push("N"));
  EXPECT_TRUE(stream.push("D and more"));
  stream.finish();
  EXPECT_EQ(stream.continuation(), "one ");
  EXPECT_EQ(seen.pieces, Pieces{"one "});
}

TEST(TextStream, WhatOnlyLooksLikeAStopComesLater) {
  Collected seen;
  TextStream stream({"END"}, seen.sink());
  EXPECT_FALSE(stream.push("xEN"));
  EXPECT_FALSE(stream.push(""));
  EXPECT_FALSE(stream.push("T"));
  EXPECT_FALSE(stream.push("E"));
  stream.finish();
  EXPECT_EQ(seen.pieces, (Pieces{"x", "ENT", "E"}));
}

TEST(TextStream, TheStopThatIsCompleteFirstCountsAndOfThoseTheLongest) {
  TextStream first({"abcd", "bc"}, {});
  EXPECT_TRUE(first.push("xabcd"));
  EXPECT_EQ(first.continuation(), "xa");
  TextStream longest({"c", "bc"}, {});
  EXPECT_TRUE(longest.push("abc"));
  EXPECT_EQ(longest.continuation(), "a");
}

// "aab" in "aaab": after the third a the match goes back to its border, not to nothing.
TEST(TextStream, AStopTextThatRepeatsItself) {
  TextStream stream({"aab"}, {});
  EXPECT_FALSE(stream.push("aaa"));
  EXPECT_TRUE(stream.push("b"));
  EXPECT_EQ(stream.continuation(), "a");
}

TEST(TextStream, NeverHalfACharacter) {
  Collected seen;
  TextStream stream({}, seen.sink());
  for (const char* bytes : {"a\xF0\x9F", "\x98\x80", "\xC3"}) stream.push(bytes);
  stream.finish();
  EXPECT_EQ(seen.pieces, (Pieces{"a", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}));
}

// Python's bytes.decode("utf-8", "replace") of these bytes, as Hugging Face's byte-level decoder gives it.
TEST(TextStream, BytesThatAreNoCharacterBecomeTheReplacementAtOnce) {
  Collected seen;
  TextStream stream({}, seen.sink());
  for (const char* bytes : {"a\xFF", "\xE2\x82", "b", "\x80\x80"}) stream.push(bytes);
  stream.finish();
  EXPECT_EQ(seen.pieces, (Pieces{"a\uFFFD", "\uFFFDb", "\uFFFD\uFFFD"}));
}

TEST(TextStream, APromptsUnfinishedCharacterBeginsTheContinuation) {
  TextStream stream({}, {});
  EXPECT_EQ(stream.begin("p\xE2\x82"), "p");
  stream.push("\xAC!");
  EXPECT_EQ(stream.continuation(), "\u20AC!");
  TextStream broken({}, {});
  EXPECT_EQ(broken.begin("p\xE2\x82"), "p");
  broken.push("x");
  EXPECT_EQ(broken.continuation(), "\uFFFDx");
}

// Whatever the bytes and however they come, each piece is valid UTF-8 and all of them are the whole.
TEST(TextStream, RandomBytesAreStreamedAsValidUtf8) {
  std::mt19937 random(7);
  const std::string_view some = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF";
  for (int round = 0; round < 300; ++round) {
    Collected seen;
    TextStream stream({"\u20AC\u20AC", "aa"}, seen.sink());
    for (int i = 0; i < 12; ++i) {
      const size_t from = random() % some.size();
      if (stream.push(some.substr(from, random() % 4))) break;
    }
    stream.finish();
    std::string all;
    for (const std::string& piece : seen.pieces) {
      EXPECT_FALSE(first_invalid_utf8(piece)) << round;
      all += piece;
    }
    EXPECT_EQ(all, stream.continuation());
    EXPECT_EQ(all.find("aa"), all.npos);
  }
}

// 200,000 tokens against a stop text of 100,000 bytes that they keep almost meeting: linear, or this takes
// minutes.
TEST(TextStream, LongTextsAndLongStopsTakeLinearTime) {
  TextStream stream({std::string(100000, 'a') + "b"}, {});
  for (int i = 0; i < 200000; ++i) ASSERT_FALSE(stream.push("a"));
  EXPECT_TRUE(stream.push("b"));
  EXPECT_EQ(stream.continuation(), std::string(100000, 'a'));
}

TEST(TextStream, AStopThatIsNoTextIsRefused) {
  EXPECT_THROW(TextStream({""}, {}), Refusal);
  EXPECT_THROW(TextStream({"\xFF"}, {}), Refusal);
}

}  // namespace
}  // namespace tril
