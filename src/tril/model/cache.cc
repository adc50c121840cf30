#include "tril/model/cache.h"

#include <cassert>
#include <cstring>

namespace tril {
namespace {

char* row(const Tensor& t, int64_t b, int64_t position) {
  const int64_t bytes = t.shape[2] * size_of(t.dtype);
  return static_cast<char*>(t.data) + (b * t.shape[1] + position) * bytes;
}

// rows [b, n, width] go behind the first `length` rows of `to` [B, capacity, width], b ≤ B.
void put(const Tensor& rows, const Tensor& to, int64_t length) {
  assert(rows.shape[0] <= to.shape[0] && rows.shape[2] == to.shape[2] && rows.dtype == to.dtype);
  const auto bytes = static_cast<size_t>(rows.shape[1] * rows.shape[2] * size_of(rows.dtype));
  for (int64_t b = 0; b < rows.shape[0]; ++b) std::memcpy(row(to, b, length), row(rows, b, 0), bytes);
}

}  // namespace

Cache::Cache(int64_t layers, int64_t batch, int64_t capacity, int64_t key_width, int64_t value_width,
             DType dtype)
    : layers_(layers),
      batch_(batch),
      capacity_(capacity),
      key_width_(key_width),
      value_width_(value_width),
      dtype_(dtype),
      storage_(memory_.zeros({bytes() / 4}, DType::f32).data) {}

Tensor Cache::keys(int64_t layer) const {
  char* start = static_cast<char*>(storage_) + layer * layer_bytes();
  return {{batch_, capacity_, key_width_}, dtype_, start};
}

Tensor Cache::values(int64_t layer) const {
  const Tensor k = keys(layer);
  return {{batch_, capacity_, value_width_}, dtype_, static_cast<char*>(k.data) + k.bytes()};
}

void Cache::rewind(int64_t length) {
  assert(length >= 0 && length <= length_);
  length_ = length;
}

void Cache::share(int64_t from) {
  for (int64_t layer = 0; layer < layers_; ++layer)
    for (const Tensor& t : {keys(layer), values(layer)}) {
      const auto bytes = static_cast<size_t>(length_ * t.shape[2] * size_of(t.dtype));
      for (int64_t b = 0; b < batch_; ++b)
        if (b != from) std::memcpy(row(t, b, 0), row(t, from, 0), bytes);
    }
}

// Fewer sequences than the batch are its first ones: a prompt is read by one of them and shared.
CacheView Cache::append(int64_t layer, const Tensor& k, const Tensor& v) {
  assert(k.shape[1] <= room());
  put(k, keys(layer), length_);
  put(v, values(layer), length_);
  const auto first = [&](Tensor t) {
    t.shape = {k.shape[0], t.shape[1], t.shape[2]};
    return t;
  };
  return {first(keys(layer)), first(values(layer)), length_ + k.shape[1]};
}

void Cache::advance(int64_t n) {
  assert(n <= room());
  length_ += n;
}

}  // namespace tril
