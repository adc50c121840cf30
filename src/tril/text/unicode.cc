#include "tril/text/unicode.h"

#include <utf8proc.h>

#include <array>

namespace tril {
namespace {

CharacterClass classify(char32_t c) {
  if (is_white_space(c)) return CharacterClass::kSpace;
  if (c == '_') return CharacterClass::kUnderscore;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::kLetter;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CharacterClass::kMark;
    case UTF8PROC_CATEGORY_ND:
      return CharacterClass::kDigit;
    default:
      return CharacterClass::kOther;
  }
}

std::array<CharacterClass, 128> classify_ascii() {
  std::array<CharacterClass, 128> classes;
  for (char32_t c = 0; c < 128; ++c) classes[c] = classify(c);
  return classes;
}

}  // namespace

CharacterClass character_class(char32_t c) {
  static const std::array<CharacterClass, 128> ascii = classify_ascii();
  return c < 128 ? ascii[c] : classify(c);
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_written_without_spaces(char32_t c) {
  return (c >= 0x0E00 && c <= 0x0EFF) || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) ||
         (c >= 0x3005 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x323AF);
}

}  // namespace tril
