#include "tril/text/utf8.h"

#include <cstring>

#include "tril/base/error.h"

namespace tril {
namespace {

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0) == 0x80;
}

/// Length of the valid sequence at `at`, 0 where there is none. Table 3-7 of the Unicode Standard: only the
/// second byte's range depends on the first.
int sequence_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() - at < static_cast<size_t>(length)) return 0;
  const unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (int i = 2; i < length; ++i) {
    if (!is_continuation(byte(i))) return 0;
  }
  return length;
}

}  // namespace

std::optional<size_t> first_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= 8) {  // most text is ASCII: eight bytes at a time
      uint64_t block;
      std::memcpy(&block, text.data() + at, 8);
      if ((block & 0x8080808080808080u) == 0) {
        at += 8;
        continue;
      }
    }
    const int length = sequence_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

void require_utf8(std::string_view text, const std::string& name) {
  if (const auto bad = first_invalid_utf8(text)) {
    refuse("{}: byte {}: not valid UTF-8 (0x{:02X}); save the text as UTF-8", name, *bad,
           static_cast<unsigned char>(text[*bad]));
  }
}

CodePoint code_point_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  switch (sequence_length(text, at)) {
    case 1:
      return {byte(0), 1};
    case 2:
      return {(byte(0) & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    case 3:
      return {(byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    case 4:
      return {(byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
    default:
      return {0xFFFD, 1};
  }
}

void append_utf8(char32_t value, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | value >> 6);
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3F));
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

int64_t count_code_points(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += !is_continuation(static_cast<unsigned char>(c));
  return count;
}

size_t code_point_offset(std::string_view text, int64_t index) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (is_continuation(static_cast<unsigned char>(text[at]))) continue;
    if (index-- == 0) return at;
  }
  return text.size();
}

std::string code_point_name(char32_t value) {
  return fmt::format("U+{:04X}", static_cast<uint32_t>(value));
}

}  // namespace tril
