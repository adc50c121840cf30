#include "tril/generate/text_stream.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

struct Collected {
  std::vector<std::string> pieces;
  std::function<void(std::string_view)> sink() {
    return [this](std::string_view piece) { pieces.emplace_back(piece); };
  }
};

TEST(TextStream, AStopTextAcrossPiecesIsRemoved) {
  Collected seen;
  TextStream stream("p:", {"END"}, seen.sink());
  EXPECT_FALSE(stream.show("p:one E"));
  EXPECT_FALSE(stream.show("p:one EN"));
  EXPECT_TRUE(stream.show("p:one END and more"));
  stream.finish();
  EXPECT_EQ(stream.continuation(), "one ");
  EXPECT_EQ(seen.pieces, (std::vector<std::string>{"one "}));
}

TEST(TextStream, WhatOnlyLooksLikeAStopComesLater) {
  Collected seen;
  TextStream stream("", {"END"}, seen.sink());
  EXPECT_FALSE(stream.show("xEN"));
  EXPECT_FALSE(stream.show("xENT"));
  stream.finish();
  EXPECT_EQ(seen.pieces, (std::vector<std::string>{"x", "ENT"}));
}

TEST(TextStream, NeverHalfACharacter) {
  Collected seen;
  TextStream stream("", {}, seen.sink());
  stream.show("a\xF0\x9F");
  stream.show("a\xF0\x9F\x98\x80");
  stream.show("a\xF0\x9F\x98\x80\xC3");
  stream.finish();
  EXPECT_EQ(seen.pieces, (std::vector<std::string>{"a", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}));
  EXPECT_EQ(unfinished_bytes("abc"), 0u);
  EXPECT_EQ(unfinished_bytes("\xE2\x82"), 2u);
  EXPECT_EQ(unfinished_bytes("\xE2\x82\xAC"), 0u);
  EXPECT_EQ(unfinished_bytes(""), 0u);
}

TEST(TextStream, AnEmptyStopIsRefused) {
  EXPECT_THROW(TextStream("", {""}, {}), Refusal);
}

}  // namespace
}  // namespace tril
