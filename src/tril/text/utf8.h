// UTF-8: validity, reading and writing code points. Always UTF-8, whatever the locale.
// It leaves out properties of characters (unicode.h) and conversion from other encodings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// Offset of the first byte that is no part of valid UTF-8 (overlong forms, surrogates, values above U+10FFFF
/// and a sequence cut by the end are all invalid: the offset is that of the sequence's first byte), or
/// nullopt.
std::optional<size_t> first_invalid_utf8(std::string_view text);

/// Throws Refusal "NAME: byte OFFSET: not valid UTF-8 …" unless the text is valid UTF-8.
void require_utf8(std::string_view text, const std::string& name);

struct CodePoint {
  char32_t value;
  int length;  // bytes, 1 to 4
};

/// The code point that starts at byte `at` < text.size(). Where the bytes are invalid: {U+FFFD, 1}.
CodePoint code_point_at(std::string_view text, size_t at);

/// Appends the 1 to 4 bytes of a code point.
void append_utf8(char32_t value, std::string& out);

/// Number of code points in valid UTF-8.
int64_t count_code_points(std::string_view text);

/// Byte offset of the code point with this index (from 0) in valid UTF-8; text.size() where there are fewer.
size_t code_point_offset(std::string_view text, int64_t index);

/// "U+00E9".
std::string code_point_name(char32_t value);

}  // namespace tril
