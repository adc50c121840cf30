// text_stream: the continuation as it grows, handed on piece by piece: never half a UTF-8 character, never a
// part of a stop text, also where that text spans tokens. The stop text itself is removed.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

class TextStream {
 public:
  /// `before` is the text of the prompt; `on_text` may be empty. Throws Refusal for an empty stop text.
  TextStream(std::string before, std::vector<std::string> stops,
             std::function<void(std::string_view)> on_text);

  /// Takes the whole text so far, prompt included. Returns true where a stop text has come: generation ends.
  bool show(std::string_view whole);
  /// Hands on what was held back. An unfinished character at the end becomes U+FFFD.
  void finish();
  const std::string& continuation() const { return text_; }

 private:
  void hand_on(size_t end);

  std::string before_;
  std::vector<std::string> stops_;
  std::function<void(std::string_view)> on_text_;
  std::string text_;
  size_t shown_ = 0;
  bool stopped_ = false;
};

/// How many bytes at the end of `text` begin a UTF-8 character that is not finished; 0 to 3.
size_t unfinished_bytes(std::string_view text);

}  // namespace tril
