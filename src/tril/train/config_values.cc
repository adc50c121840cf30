// What the functions of config_keys.h do with one row of the table.
#include <fmt/format.h>

#include <cmath>

#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/text/utf8.h"
#include "tril/train/config_keys.h"

namespace tril {
namespace {

std::string number(const ConfigKey& key, double value) {
  if (std::holds_alternative<int64_t& (*)(Config&)>(key.member))
    return with_commas(static_cast<long long>(value));
  return fmt::format("{}", value);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

bool in_range(const ConfigKey& key, double value) {
  if (!std::isfinite(value)) return false;
  if (key.low_open ? value <= key.low : value < key.low) return false;
  return key.high_open ? value < key.high : value <= key.high;
}

}  // namespace

const ConfigKey* find_key(std::string_view section, std::string_view name) {
  for (const ConfigKey& key : config_keys())
    if (key.section == section && key.name == name) return &key;
  return nullptr;
}

Value get_value(const Config& config, const ConfigKey& key) {
  // The accessors serve reading and writing alike; here they only read.
  return std::visit([&](auto member) -> Value { return member(const_cast<Config&>(config)); }, key.member);
}

void set_value(Config& config, const ConfigKey& key, const Value& value) {
  std::visit(
      [&](auto member) {
        auto& place = member(config);
        place = std::get<std::decay_t<decltype(place)>>(value);
      },
      key.member);
}

std::string_view type_name(const ConfigKey& key) {
  static constexpr std::string_view kNames[] = {"an integer", "a real number", "true or false", "a string"};
  return kNames[key.member.index()];
}

std::string allowed_values(const ConfigKey& key) {
  if (key.member.index() == 2) return "";
  if (key.member.index() == 3) return joined(key.choices);
  if (key.low_open) return "above " + number(key, key.low) + ", at most " + number(key, key.high);
  if (key.high_open) return number(key, key.low) + " or more, below " + number(key, key.high);
  return number(key, key.low) + " to " + number(key, key.high);
}

std::string value_fault(const ConfigKey& key, const Value& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) {
    if (in_range(key, static_cast<double>(*whole))) return "";
    return fmt::format("must be {}, is {}", allowed_values(key), with_commas(*whole));
  }
  if (const auto* real = std::get_if<double>(&value)) {
    if (in_range(key, *real)) return "";
    if (!std::isfinite(*real)) return fmt::format("must be a finite number, is {}", *real);
    return fmt::format("must be {}, is {}", allowed_values(key), *real);
  }
  if (const auto* word = std::get_if<std::string>(&value)) {
    if (word->find('\0') != std::string::npos) return "must not hold a NUL character";
    if (const auto at = first_invalid_utf8(*word))
      return fmt::format("must be UTF-8 text; byte {} is not", *at);
    if (key.choices.empty()) return "";
    for (const std::string& choice : key.choices)
      if (choice == *word) return "";
    return fmt::format("must be {}, is {}{}", allowed_values(key), in_quotes(*word),
                       nearest_hint(*word, key.choices));
  }
  return "";
}

unsigned family_bit(std::string_view family) {
  if (family == "window_mlp") return kWindowMlp;
  if (family == "window_attention") return kWindowAttention;
  if (family == "decoder") return kDecoder;
  return 0;
}

}  // namespace tril
