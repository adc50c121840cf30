// The few properties of characters that the word rule needs, from utf8proc.
#pragma once
#include <cstdint>

namespace tril {

/// What a character is to the word rule (words.h).
enum class CharacterClass : uint8_t {
  kLetter,      // general category L*
  kMark,        // M*
  kDigit,       // Nd
  kSpace,       // White_Space
  kUnderscore,  // U+005F: belongs to no token
  kOther,       // all else, control characters included
};

CharacterClass character_class(char32_t c);

/// The Unicode property White_Space (25 characters).
bool is_white_space(char32_t c);

/// Han, kana, Thai, Lao, Khmer, Myanmar: scripts written without spaces between words, where a run of letters
/// is a clause and no word.
bool is_written_without_spaces(char32_t c);

}  // namespace tril
