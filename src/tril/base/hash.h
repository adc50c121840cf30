// SHA-256, by libcrypto.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tril {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view bytes);
/// 64 lower-case hex digits.
std::string to_hex(const Digest& digest);
std::string sha256_hex(std::string_view bytes);

}  // namespace tril
