#include "tril/formats/gguf_keys.h"

#include <fmt/format.h>

#include <cmath>

#include "tril/base/error.h"
#include "tril/base/quote.h"

namespace tril {

const GgufValue* GgufKeys::find(const std::string& key) {
  asked_.insert(key);
  return file_.find(key);
}

bool GgufKeys::has(const std::string& key) {
  return find(key) != nullptr;
}

std::string GgufKeys::shown(const GgufValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return in_quotes(*text);
  if (const auto* array = std::get_if<GgufArray>(&value))
    return fmt::format("an array of {} {}", array->count, name_of(array->type));
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<uint64_t>(&value)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<double>(value));
}

void GgufKeys::refuse_value(const std::string& key, const GgufValue& value, std::string_view needed) const {
  refuse("{}: {} is {}; {} is needed", file_.path(), key, shown(value), needed);
}

std::optional<int64_t> GgufKeys::whole(const GgufValue& value) const {
  if (const auto* number = std::get_if<int64_t>(&value)) return *number;
  const auto* number = std::get_if<uint64_t>(&value);
  return number != nullptr && *number <= INT64_MAX ? std::optional(static_cast<int64_t>(*number))
                                                   : std::nullopt;
}

int64_t GgufKeys::integer(const std::string& key, int64_t most, std::optional<int64_t> missing) {
  const GgufValue* value = find(key);
  if (value == nullptr && missing) return *missing;
  if (value == nullptr) refuse("{}: lacks the key {}", file_.path(), in_quotes(key));
  const std::optional<int64_t> number = whole(*value);
  if (!number || *number < 1 || *number > most)
    refuse_value(key, *value, fmt::format("an integer of 1 to {}", most));
  return *number;
}

std::optional<int32_t> GgufKeys::id(const std::string& key, int64_t tokens) {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  const std::optional<int64_t> number = whole(*value);
  if (!number || *number < 0 || *number >= tokens)
    refuse_value(key, *value, fmt::format("the id of one of {} tokens", tokens));
  return static_cast<int32_t>(*number);
}

double GgufKeys::positive(const std::string& key, std::optional<double> missing) {
  const GgufValue* value = find(key);
  if (value == nullptr && missing) return *missing;
  if (value == nullptr) refuse("{}: lacks the key {}", file_.path(), in_quotes(key));
  const auto* number = std::get_if<double>(value);
  if (number == nullptr || !std::isfinite(*number) || *number <= 0)
    refuse_value(key, *value, "a finite real number above 0");
  return *number;
}

bool GgufKeys::flag(const std::string& key, bool missing) {
  const GgufValue* value = find(key);
  if (value == nullptr) return missing;
  const auto* is = std::get_if<bool>(value);
  if (is == nullptr) refuse_value(key, *value, "true or false");
  return *is;
}

std::string GgufKeys::text(const std::string& key, std::optional<std::string> missing) {
  const GgufValue* value = find(key);
  if (value == nullptr && missing) return *missing;
  if (value == nullptr) refuse("{}: lacks the key {}", file_.path(), in_quotes(key));
  const auto* words = std::get_if<std::string_view>(value);
  if (words == nullptr) refuse_value(key, *value, "a text");
  return std::string(*words);
}

void GgufKeys::must_be(const std::string& key, const std::string& harmless) {
  const GgufValue* value = find(key);
  if (value == nullptr) return;
  const auto* words = std::get_if<std::string_view>(value);
  if ((words != nullptr ? std::string(*words) : shown(*value)) != harmless)
    refuse("{}: {} is {}; tril has only {}", file_.path(), key, shown(*value), harmless);
}

void GgufKeys::refuse_others(std::string_view prefix) const {
  for (const auto& [key, value] : file_.view().values) {
    if (key.starts_with(prefix) && asked_.count(key) == 0)
      refuse("{}: the key {} = {} is not one that tril computes", file_.path(), key, shown(value));
  }
}

}  // namespace tril
