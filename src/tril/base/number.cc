// Numbers from text, over std::from_chars, which knows no locale.
#include "tril/base/number.h"

#include <charconv>
#include <cmath>

namespace tril {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  // from_chars takes "-3" but not "+3"; "+-3" stays refused.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  return parse<int64_t>(text);
}

std::optional<double> parse_real(std::string_view text) {
  const std::optional<double> value = parse<double>(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return value;
}

}  // namespace tril
