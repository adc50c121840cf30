#include "tril/text/words.h"

#include "tril/text/unicode.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

/// End of the letters and marks that start at `at`; `at` itself where no letter stands there.
size_t WordScanner::letters_end(size_t at) const {
  const size_t start = at;
  while (at < text_.size()) {
    if (is_lower(text_[at])) {
      ++at;
      continue;
    }
    // Normalized text has no upper-case ASCII, but the rule does not depend on that.
    const CodePoint c = code_point_at(text_, at);
    const CharacterClass kind = character_class(c.value);
    if (kind != CharacterClass::kLetter && (kind != CharacterClass::kMark || at == start)) break;
    at += static_cast<size_t>(c.length);
  }
  return at;
}

size_t WordScanner::digits_end(size_t at) const {
  while (at < text_.size()) {
    if (is_digit(text_[at])) {
      ++at;
      continue;
    }
    if (is_ascii(text_[at])) break;
    const CodePoint c = code_point_at(text_, at);
    if (character_class(c.value) != CharacterClass::kDigit) break;
    at += static_cast<size_t>(c.length);
  }
  return at;
}

bool WordScanner::next(std::string_view& token) {
  while (at_ < text_.size()) {
    const size_t start = at_;
    const CodePoint c = code_point_at(text_, start);
    switch (character_class(c.value)) {
      case CharacterClass::kSpace:
        at_ += static_cast<size_t>(c.length);
        continue;
      case CharacterClass::kUnderscore:
        ++dropped_;
        ++at_;
        continue;
      case CharacterClass::kLetter:
        at_ = letters_end(start);
        if (at_ < text_.size() && text_[at_] == '\'') {
          const size_t part = letters_end(at_ + 1);
          if (part > at_ + 1) at_ = part;
        }
        break;
      case CharacterClass::kDigit:
        at_ = digits_end(start);
        break;
      case CharacterClass::kMark:
      case CharacterClass::kOther:
        at_ = start + static_cast<size_t>(c.length);
        break;
    }
    token = text_.substr(start, at_ - start);
    return true;
  }
  return false;
}

}  // namespace tril
