// Bytes as lower-case hex digits, two a byte, and back.
#pragma once
#include <string>
#include <string_view>

namespace tril {

std::string to_hex(std::string_view bytes);
/// Throws Refusal that begins with `where` unless the text is an even number of hex digits.
std::string from_hex(std::string_view hex, const std::string& where);

}  // namespace tril
