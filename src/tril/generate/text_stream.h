// text_stream: the continuation as it grows, handed on piece by piece: always valid UTF-8, never half a
// character, never a part of a stop text, also where that text spans tokens. Bytes that can be no part of a
// character become U+FFFD, as in Hugging Face's decoder. The stop text itself is removed. Work is linear in
// the text. What it leaves out: ids (text/tokenizer.h).
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tril/text/bpe_stream.h"

namespace tril {

/// Finds one text in a stream of bytes (Knuth, Morris and Pratt 1977).
class StopText {
 public:
  /// Throws Refusal where it is empty or no UTF-8.
  explicit StopText(std::string text);
  /// Takes the next byte; returns how many bytes at the end of the stream begin the text now. All of it:
  /// size().
  size_t push(char byte);
  size_t size() const { return text_.size(); }

 private:
  std::string text_;
  std::vector<size_t> border_;  // of the first i bytes: the longest proper beginning that is also their end
  size_t matched_ = 0;
};

class TextStream {
 public:
  /// `on_text` may be empty. Throws Refusal for a stop text that is empty or no UTF-8.
  TextStream(const std::vector<std::string>& stops, std::function<void(std::string_view)> on_text);

  /// Takes the prompt's bytes; returns what of them is shown. A character that they leave unfinished begins
  /// the continuation.
  std::string begin(std::string_view prompt);
  /// Takes the bytes of one more token. Returns true where a stop text is complete: generation ends. Of
  /// several the one that is complete first counts, and of those the longest.
  bool push(std::string_view bytes);
  /// Hands on what was held back; an unfinished character at the end becomes U+FFFD.
  void finish();
  const std::string& continuation() const { return text_; }

 private:
  void hand_on(size_t end);

  Utf8Stream characters_;
  std::vector<StopText> stops_;
  std::function<void(std::string_view)> on_text_;
  std::string text_;
  size_t shown_ = 0, held_ = 0;  // held_ bytes at the end may belong to a stop text
  bool stopped_ = false;
};

}  // namespace tril
