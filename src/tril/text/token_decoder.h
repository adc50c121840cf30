// Ids to text one after another, for a text that is shown while it grows. What it leaves out: whole lists of
// ids (Tokenizer::decode).
#pragma once
#include <memory>
#include <string>

#include "tril/text/word_tokenizer.h"

namespace tril {

/// The pieces together are decode() of all ids. The tokenizer must outlive it.
class TokenDecoder {
 public:
  virtual ~TokenDecoder() = default;
  /// The bytes that this id adds. Throws Refusal on an id outside the vocabulary.
  virtual std::string push(int32_t id) = 0;
};

/// A decoder at the start of a text.
std::unique_ptr<TokenDecoder> make_decoder(const Tokenizer& tokenizer);

/// That of words, whose spaces depend on what came before (word_tokenizer.cc).
std::unique_ptr<TokenDecoder> make_word_decoder(const WordTokenizer& tokenizer);

}  // namespace tril
