// The word rule: which parts of normalized text are tokens.
//   a run of letters, with one optional apostrophe part  L[LM]*('L[LM]*)?
//   or a run of digits                                   Nd+
//   or one other character that is neither white space nor "_"
// On ASCII this is [a-z]+(?:'[a-z]+)?|[0-9]+|[^\w\s]; "_" alone belongs to no token, and is counted.
// It leaves out normalization (normalize.h) and ids (word_tokenizer.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tril {

class WordScanner {
 public:
  /// `normalized` is normalized, valid UTF-8 and outlives the scanner.
  explicit WordScanner(std::string_view normalized) : text_(normalized) {}

  /// Moves to the next token; false at the end of the text.
  bool next(std::string_view& token);

  /// How many "_" were passed over so far.
  int64_t dropped() const { return dropped_; }

 private:
  size_t letters_end(size_t at) const;
  size_t digits_end(size_t at) const;

  std::string_view text_;
  size_t at_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace tril
