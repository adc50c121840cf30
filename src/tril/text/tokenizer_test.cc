#include "tril/text/tokenizer.h"

#include <gtest/gtest.h>

#include "tril/base/hash.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

TEST(Tokenizer, FingerprintIsTheHashOfTheFile) {
  const WordTokenizer words({"a"});
  EXPECT_EQ(words.fingerprint(), sha256_hex(words.to_json()));
  EXPECT_NE(words.fingerprint(), WordTokenizer({"b"}).fingerprint());
  EXPECT_NE(CharTokenizer({'a'}).fingerprint(), CharTokenizer({'a'}, true).fingerprint());
}

TEST(Tokenizer, WhatATokenizerNeedNotHave) {
  const CharTokenizer plain({'a'});
  const Tokenizer& tokenizer = plain;
  EXPECT_EQ(tokenizer.pad(), std::nullopt);
  EXPECT_EQ(tokenizer.eos(), std::nullopt);
  EXPECT_EQ(tokenizer.normalized("A  b"), "A  b");
}

}  // namespace
}  // namespace tril
