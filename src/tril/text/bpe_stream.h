// BPE over text that does not fit in memory, and decoding token by token: an encoder that takes text in
// chunks and gives the ids of the whole, and a decoder that never gives half a code point. What it leaves
// out: other kinds of tokenizers.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/text/bpe.h"

namespace tril {

/// Encodes a text that comes in chunks, cut anywhere. All ids together are those of encode() on the whole
/// text. Memory: one chunk, and the longest stretch that more text could still change (a piece; the whole
/// text where the tokenizer has add_prefix_space or no pattern).
class BpeStreamEncoder {
 public:
  explicit BpeStreamEncoder(const BpeTokenizer& tokenizer, Specials specials = Specials::kAsText)
      : tokenizer_(tokenizer), specials_(specials) {}

  /// Takes more text and appends to `ids` what is settled.
  void feed(std::string_view chunk, std::vector<int32_t>& ids) { encode(chunk, false, ids); }
  /// The text is complete: appends the rest. The encoder is then ready for another text.
  void finish(std::vector<int32_t>& ids) { encode({}, true, ids); }

 private:
  void encode(std::string_view chunk, bool final, std::vector<int32_t>& ids);

  const BpeTokenizer& tokenizer_;
  Specials specials_;
  BpeTokenizer::Scratch scratch_;
  std::string pending_;  // a few bytes of context, then what is not settled
  size_t context_ = 0;   // how many bytes of pending_ are context
  size_t retry_ = 0;     // encode again when pending_ has grown to this
};

/// Bytes of successive tokens → text that is always whole code points.
class Utf8Stream {
 public:
  /// Appends bytes; returns the text that is complete by now. Bytes that can be no part of a code point come
  /// out as U+FFFD, so that the result is valid UTF-8 always.
  std::string push(std::string_view bytes);
  /// The end: a broken-off code point comes out as U+FFFD.
  std::string finish();

 private:
  std::string held_;
};

}  // namespace tril
