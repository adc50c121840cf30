// TextEncoder: text that comes in pieces to tokens, by any tokenizer or by the word rule alone, with what it
// met on the way counted: tokens, dropped characters, words that the vocabulary lacks. What it leaves out:
// reading files (data/text_chunks.h).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tril/text/bpe_stream.h"
#include "tril/text/tokenizer.h"

namespace tril {

struct EncodedToken {
  int32_t id;             // −1 without a tokenizer
  std::string_view text;  // the word, by the word rule; empty for others
};

class TextEncoder {
 public:
  using Take = std::function<void(const EncodedToken&)>;

  /// `tokenizer` null: words, without ids. `name` is the source's in refusals. Words: pieces end behind white
  /// space; characters: behind whole ones; BPE: anywhere.
  TextEncoder(std::string name, const Tokenizer* tokenizer, Specials specials = Specials::kAsText);

  /// The tokens that are settled. Throws Refusal that names the character, its number and its byte, both in
  /// the text so far (a character that the vocabulary lacks; not for words, which are counted).
  void feed(std::string_view piece, const Take& take);
  /// The text is complete: the rest of its tokens. Another text may follow.
  void finish(const Take& take);

  int64_t count() const { return count_; }
  int64_t dropped() const { return dropped_; }
  int64_t unknown_count() const { return unknown_count_; }
  /// Words that the vocabulary lacks with how often they came, the most frequent first, at most `most`. Of
  /// very many different ones those that came first are kept.
  std::vector<std::pair<std::string, int64_t>> unknown(size_t most) const;

 private:
  void take_bpe(const std::function<void(std::vector<int32_t>&)>& body, const Take& take);
  void feed_words(std::string_view piece, const Take& take);
  void feed_characters(std::string_view piece, const Take& take);
  void give(const std::vector<int32_t>& ids, const Take& take);

  std::string name_;
  const Tokenizer* tokenizer_;
  std::unique_ptr<BpeStreamEncoder> bpe_;
  std::map<std::string, int64_t, std::less<>> unknown_;
  int64_t count_ = 0, dropped_ = 0, unknown_count_ = 0;
  int64_t characters_ = 0, bytes_ = 0;  // of this text, before the piece
};

}  // namespace tril
