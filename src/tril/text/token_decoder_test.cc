#include "tril/text/token_decoder.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/text/char_tokenizer.h"

namespace tril {
namespace {

// One id after another gives what all of them give, for words and characters.
TEST(TokenDecoder, GivesTheTextPieceByPiece) {
  const WordTokenizer words({"he", "said", "\"", "(", ")", ".", "n", "'"});
  const CharTokenizer characters({'a', U'\u20AC'}, true);
  const std::vector<int32_t> ids[] = {{1, 4, 5, 6, 8, 4, 9, 3, 6, 7, 8, 2, 4, 10, 11, 10},
                                      {2, 0, 1, 1, 0, 2}};
  const Tokenizer* const each[] = {&words, &characters};
  for (size_t i = 0; i < 2; ++i) {
    const auto decoder = make_decoder(*each[i]);
    std::string text;
    for (const int32_t id : ids[i]) text += decoder->push(id);
    EXPECT_EQ(text, each[i]->decode(ids[i]));
    EXPECT_THROW(decoder->push(99), Refusal);
  }
  const auto decoder = make_decoder(words);
  EXPECT_EQ(decoder->push(WordTokenizer::kBos), "");
  EXPECT_EQ(decoder->push(4), "he");
  EXPECT_EQ(decoder->push(5), " said");
  EXPECT_EQ(decoder->push(9), ".");
}

}  // namespace
}  // namespace tril
