// The byte alphabet of byte-level BPE: each of the 256 bytes has one visible character, so that a vocabulary
// of bytes can be written as text. The table is GPT-2's: bytes that are printable in Latin-1 stand for
// themselves, the others take U+0100 and up, in byte order. What it leaves out: merging.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tril {

/// The characters in code point order are the first 256 ids of a vocabulary that is trained here: byte of
/// each id.
const std::array<uint8_t, 256>& byte_alphabet();

/// The bytes written in the alphabet: "Ġthe" for " the".
std::string to_byte_level(std::string_view bytes);

/// The bytes behind a token, or nullopt where a character is not in the alphabet (then the token stands for
/// its own UTF-8 bytes, as in Hugging Face's ByteLevel decoder).
std::optional<std::string> from_byte_level(std::string_view token);

}  // namespace tril
