// Single values of a GGUF file by key, held to their types and ranges. What it leaves out: arrays (gguf.h).
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tril/formats/gguf.h"

namespace tril {

/// Reads keys and remembers which were asked for. Every member throws Refusal that names key and value.
class GgufKeys {
 public:
  explicit GgufKeys(const GgufFile& file) : file_(file) {}

  bool has(const std::string& key);
  /// An integer of 1 to `most`. A key that is missing is refused where there is no `missing`.
  int64_t integer(const std::string& key, int64_t most, std::optional<int64_t> missing = std::nullopt);
  /// A token's id, 0 or more; nullopt where the key is missing.
  std::optional<int32_t> id(const std::string& key, int64_t tokens);
  /// A finite number above 0.
  double positive(const std::string& key, std::optional<double> missing = std::nullopt);
  bool flag(const std::string& key, bool missing);
  std::string text(const std::string& key, std::optional<std::string> missing = std::nullopt);
  /// Refuses a key that is there with another value than `harmless`.
  void must_be(const std::string& key, const std::string& harmless);
  /// Refuses every key that begins with `prefix` and was not asked for.
  void refuse_others(std::string_view prefix) const;

  /// A value as a reader would write it.
  static std::string shown(const GgufValue& value);

 private:
  const GgufValue* find(const std::string& key);
  [[noreturn]] void refuse_value(const std::string& key, const GgufValue& value,
                                 std::string_view needed) const;
  std::optional<int64_t> whole(const GgufValue& value) const;

  const GgufFile& file_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace tril
