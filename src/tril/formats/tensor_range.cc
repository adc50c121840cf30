#include "tril/formats/tensor_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tril {
namespace {
constexpr int64_t kBlock = 4096;

/// Adds a block of floats or doubles to the range.
template <class T>
void add_block(const T* values, int64_t n, TensorRange& range) {
  T smallest = std::numeric_limits<T>::infinity(), largest = -smallest;
  for (int64_t i = 0; i < n; ++i) {
    const T value = values[i];
    if (std::isfinite(value)) {
      smallest = std::min(smallest, value);
      largest = std::max(largest, value);
      ++range.finite;
    } else {
      ++(std::isnan(value) ? range.nan : range.infinite);
    }
  }
  if (smallest > largest) return;
  range.smallest = std::min(range.smallest, static_cast<double>(smallest));
  range.largest = std::max(range.largest, static_cast<double>(largest));
}

bool exact_in_float(StoredType type) {
  return type == StoredType::kF32 || type == StoredType::kF16 || type == StoredType::kBF16;
}
}  // namespace

TensorRange range_of(const StoredTensor& tensor) {
  TensorRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), 0, 0,
                    0};
  const int64_t count = elements(tensor), size = size_of(tensor.type);
  std::vector<float> floats(kBlock);
  std::vector<double> doubles(kBlock);
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    StoredTensor block{"", tensor.type, {n}, tensor.bytes.substr(start * size, n * size)};
    if (exact_in_float(tensor.type)) {
      to_float(block, std::span(floats).first(n));
      add_block(floats.data(), n, range);
    } else {
      for (int64_t i = 0; i < n; ++i) doubles[i] = element(block, i);
      add_block(doubles.data(), n, range);
    }
  }
  if (range.finite == 0) range.smallest = range.largest = 0;
  return range;
}

std::string not_finite(const TensorRange& range) {
  const int64_t wrong = range.nan > 0 ? range.nan : range.infinite;
  if (wrong == 0) return "";
  return fmt::format("holds {} ({} of {} elements)", range.nan > 0 ? "NaN" : "infinities", wrong,
                     range.finite + range.nan + range.infinite);
}

}  // namespace tril
