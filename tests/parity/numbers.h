// The stored numbers of other programs, read for tests: tests/parity/NAME.json and what is in it.
#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "tril/base/file.h"
#include "tril/base/hash.h"

namespace tril::parity {

inline const std::string kFolder = TRIL_SOURCE_DIR "/tests/parity/";

inline nlohmann::json load(const std::string& name) {
  return nlohmann::json::parse(read_file(kFolder + name + ".json"));
}

/// A JSON string as a C++ one: newer versions of the JSON library do not compare the two.
inline std::string text(const nlohmann::json& value) {
  return value.get<std::string>();
}

/// The bytes that pairs of hexadecimal digits stand for: a small file in a numbers file.
inline std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// The SHA-256 of the values' little-endian bytes, as common.py's digest().
template <class T>
std::string digest(std::span<const T> values) {
  return sha256_hex({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}
template <class T>
std::string digest(const std::vector<T>& values) {
  return digest(std::span<const T>(values));
}

/// Largest |a − b| / max(1, |b|); infinite where the sizes differ or a value is no number.
template <class T, class U>
double largest_difference(const std::vector<T>& a, const std::vector<U>& b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    const double difference = std::abs(x - y) / std::max(1.0, std::abs(y));
    if (!(difference <= largest)) largest = std::isfinite(difference) ? difference : INFINITY;
  }
  return largest;
}

/// For test properties, which tell the largest differences: "4.3e-07".
inline std::string scientific(double value) {
  return fmt::format("{:.1e}", value);
}

}  // namespace tril::parity
