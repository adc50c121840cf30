// Numbers from text, the same in every locale. What it leaves out: hexadecimal, octal, digit groups, NaN and
// infinity, none of which a setting or an option of tril takes.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tril {

/// The whole text as a decimal integer ("12", "-3", "+4"); nothing where it is anything else or beyond 64
/// bits.
std::optional<int64_t> parse_integer(std::string_view text);

/// The whole text as a finite real number ("0.5", "1e-3", "2"); nothing where it is anything else or out of
/// range.
std::optional<double> parse_real(std::string_view text);

}  // namespace tril
