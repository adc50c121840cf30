#include "tril/text/text_encoder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/text/bpe_train.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/normalize.h"
#include "tril/text/word_tokenizer.h"
#include "tril/text/words.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;

Ids ids_of(TextEncoder& encoder, const std::vector<std::string>& pieces) {
  Ids ids;
  const auto take = [&](const EncodedToken& token) { ids.push_back(token.id); };
  for (const std::string& piece : pieces) encoder.feed(piece, take);
  encoder.finish(take);
  return ids;
}

TEST(TextEncoder, PiecesGiveTheIdsOfTheWhole) {
  const WordTokenizer words({"one", "two", "."});
  const CharTokenizer characters({' ', '.', 'e', 'n', 'o', 't', 'w'});
  BpeTrainer trainer({.vocab_size = 260});
  trainer.add("one two one two");
  const BpeTokenizer bpe(trainer.train());
  const std::string text = "one two. two one. ";
  for (const Tokenizer* tokenizer : std::initializer_list<const Tokenizer*>{&words, &characters, &bpe}) {
    TextEncoder encoder("t", tokenizer);
    EXPECT_EQ(ids_of(encoder, {"one ", "two. ", "two ", "one. "}), tokenizer->encode(text));
    EXPECT_EQ(encoder.count(), static_cast<int64_t>(tokenizer->encode(text).size()));
  }
}

// Normalization of pieces that end behind white space is that of the whole: nothing composes across a blank.
TEST(TextEncoder, WordsOfPiecesAreTheWordsOfTheWhole) {
  const std::string text = "Ha\uFB03n e\u0301 \u0301x \u1100\u1161 \u11A8_ \u00A0 don't a";
  std::vector<std::string> whole, parts;
  const std::string normal = normalize(text);
  WordScanner scanner(normal);
  for (std::string_view word; scanner.next(word);) whole.emplace_back(word);
  TextEncoder encoder("t", nullptr);
  const auto take = [&](const EncodedToken& token) { parts.emplace_back(token.text); };
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size() - 1) + 1;
    encoder.feed(std::string_view(text).substr(at, end - at), take);
    at = end;
  }
  EXPECT_EQ(parts, whole);
  EXPECT_EQ(encoder.dropped(), 1);
}

TEST(TextEncoder, UnknownWordsAreCountedTheMostFrequentFirst) {
  const WordTokenizer words({"one"});
  TextEncoder encoder("t", &words);
  EXPECT_EQ(ids_of(encoder, {"zwei one ", "drei zwei "}), (Ids{3, 4, 3, 3}));
  EXPECT_EQ(encoder.unknown_count(), 3);
  const std::vector<std::pair<std::string, int64_t>> all = {{"zwei", 2}, {"drei", 1}};
  EXPECT_EQ(encoder.unknown(9), all);
  EXPECT_EQ(encoder.unknown(1).size(), 1u);
}

TEST(TextEncoder, ACharacterThatIsLackingIsNamedByItsPlaceInTheText) {
  const CharTokenizer characters({'a', U'\u20AC'});
  TextEncoder encoder("t.txt", &characters);
  ids_of(encoder, {"a"});  // another text before it does not count
  encoder.feed("a\u20AC", [](const EncodedToken&) {});
  try {
    encoder.feed("\u20ACb", [](const EncodedToken&) {});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "t.txt: character 4 (byte 7): 'b' (U+0062) is not among the 2 ids of the vocabulary");
  }
}

// The last piece of a text is settled at its end: what is refused there is of the same file.
TEST(TextEncoder, ARefusalAtTheEndNamesTheText) {
  const auto bpe = parse_tokenizer(
      R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "decoder": {"type": "ByteLevel"},
          "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}})",
      "x.json");
  TextEncoder encoder("t.txt", bpe.get());
  EXPECT_EQ(ids_of(encoder, {"ab"}), (Ids{2}));
  EXPECT_EQ(refusal_of([&] { ids_of(encoder, {"z"}); }),
            "t.txt: byte 0 of the text, 0x7A, has no token in this vocabulary and there is no unknown token");
}

}  // namespace
}  // namespace tril
