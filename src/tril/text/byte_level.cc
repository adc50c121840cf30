#include "tril/text/byte_level.h"

#include "tril/text/loose_utf8.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

struct Alphabet {
  std::array<uint32_t, 256> character;  // of each byte
  std::array<int16_t, 0x180> byte;      // of each character, -1 for none
  std::array<uint8_t, 256> ordered;     // bytes in the order of their characters
};

Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  uint32_t next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
    alphabet.character[b] = printable ? static_cast<uint32_t>(b) : next++;
    alphabet.byte[alphabet.character[b]] = static_cast<int16_t>(b);
  }
  size_t id = 0;
  for (const int16_t b : alphabet.byte) {
    if (b >= 0) alphabet.ordered[id++] = static_cast<uint8_t>(b);
  }
  return alphabet;
}

const Alphabet& alphabet() {
  static const Alphabet instance = make_alphabet();
  return instance;
}

}  // namespace

const std::array<uint8_t, 256>& byte_alphabet() {
  return alphabet().ordered;
}

std::string to_byte_level(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const uint32_t c = alphabet().character[static_cast<uint8_t>(byte)];
    append_utf8(static_cast<char32_t>(c), text);
  }
  return text;
}

std::optional<std::string> from_byte_level(std::string_view token) {
  std::string bytes;
  for (size_t at = 0; at < token.size();) {
    const LooseChar c = loose_char_at(token, at);
    if (c.value >= alphabet().byte.size() || alphabet().byte[c.value] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet().byte[c.value]);
    at += c.bytes;
  }
  return bytes;
}

}  // namespace tril
