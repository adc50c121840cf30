// Lists of tokens on standard output, written as they come: a line for each text, or one JSON array. What it
// leaves out: where tokens come from (text/text_encoder.h).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tril/text/text_encoder.h"

namespace tril::cli {

class TokenList {
 public:
  explicit TokenList(bool json);
  /// The next token as it is to stand there: JSON already quoted.
  void add(std::string_view token);
  /// The end of a line of text; nothing in JSON.
  void end_text();
  /// The end of the array.
  void close();

 private:
  void hand_on(size_t least);

  bool json_, first_ = true;
  std::string waiting_;
};

/// Tokens' texts as JSON strings, each id's made once.
class TokenNames {
 public:
  /// `tokenizer` null: the words themselves.
  explicit TokenNames(const Tokenizer* tokenizer);
  std::string quoted(const EncodedToken& token);

 private:
  const Tokenizer* tokenizer_;
  std::vector<std::string> made_;
};

}  // namespace tril::cli
