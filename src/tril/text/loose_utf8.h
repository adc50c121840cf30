// One code point at a time out of bytes that may not be valid UTF-8. What it leaves out: normalisation and
// whole strings; those who cut text (split_pattern, bpe) need only this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tril {

/// A decoded code point. A broken sequence counts as one U+FFFD with valid = false and is as long as its
/// longest prefix of a well-formed sequence, at least 1 byte (Unicode 15, section 3.9, "maximal subparts"),
/// so that tril, Python and browsers count the same number of replacement characters.
struct LooseChar {
  uint32_t value;
  uint8_t bytes;
  bool valid;
};

inline constexpr uint32_t kReplacement = 0xFFFD;

/// The code point that starts at `at` < text.size().
inline LooseChar loose_char_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {kReplacement, 1, false};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t value = lead & (0x7F >> length);
  for (int i = 1; i < length; ++i) {
    // The second byte has narrower bounds where a longer form, a surrogate or a value above U+10FFFF would
    // start.
    uint8_t low = 0x80, high = 0xBF;
    if (i == 1 && lead == 0xE0) low = 0xA0;
    if (i == 1 && lead == 0xED) high = 0x9F;
    if (i == 1 && lead == 0xF0) low = 0x90;
    if (i == 1 && lead == 0xF4) high = 0x8F;
    if (at + i >= text.size() || byte(i) < low || byte(i) > high) {
      return {kReplacement, static_cast<uint8_t>(i), false};
    }
    value = value << 6 | (byte(i) & 0x3F);
  }
  return {value, static_cast<uint8_t>(length), true};
}

/// How many bytes of `text` remain when a sequence that its end breaks off, and that more bytes might
/// complete, is left out.
inline size_t complete_prefix(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t at = text.size() - back;
    const auto byte = static_cast<uint8_t>(text[at]);
    if (byte >= 0x80 && byte < 0xC0) continue;
    const LooseChar c = loose_char_at(text, at);
    const int length = byte < 0xC2 || byte > 0xF4 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return !c.valid && c.bytes == back && static_cast<int>(back) < length ? at : text.size();
  }
  return text.size();
}

}  // namespace tril
