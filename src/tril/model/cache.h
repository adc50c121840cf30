// Cache: the keys and values of every position that a decoder has read, so that the next token costs one row
// and not the whole text again (docs/kv-cache.md). What it leaves out: what to do when it is full, which is
// the generator's choice, and storage in fewer bits.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "tril/ops/attention.h"
#include "tril/tensor/tensor.h"

namespace tril {

/// Thread safety: none. Invariants: every layer holds length() rows of each sequence; rows behind them are
/// leftovers that nobody reads.
/// Shapes: for each layer keys [B, capacity, H_kv·d_k] and values [B, capacity, H_kv·d_v] of the model's
/// dtype.
class Cache {
 public:
  Cache(int64_t layers, int64_t batch, int64_t capacity, int64_t key_width, int64_t value_width, DType dtype);
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  int64_t batch() const { return batch_; }
  int64_t capacity() const { return capacity_; }
  int64_t length() const { return length_; }
  int64_t room() const { return capacity_ - length_; }
  int64_t bytes() const { return layers_ * layer_bytes(); }

  /// Goes back to the first `length` positions; 0 empties it. length ≤ length().
  void rewind(int64_t length);
  /// Copies the positions of sequence `from` to every other one: several samples after one prompt.
  void share(int64_t from);

  /// One layer's part of a step: k and v [B, n, width] are written behind what is there, and the view has
  /// them too. length() moves when every layer is done, by advance(n).
  CacheView append(int64_t layer, const Tensor& k, const Tensor& v);
  void advance(int64_t n);
  /// Where a layer's keys and values of sequence b begin, for who writes the next row there without append();
  /// T is the cache's type.
  template <class T>
  std::pair<T*, T*> rows(int64_t layer, int64_t b) const {
    T* const first = static_cast<T*>(storage_) + layer * batch_ * capacity_ * (key_width_ + value_width_);
    return {first + b * capacity_ * key_width_,
            first + batch_ * capacity_ * key_width_ + b * capacity_ * value_width_};
  }

 private:
  int64_t layer_bytes() const { return batch_ * capacity_ * (key_width_ + value_width_) * size_of(dtype_); }
  Tensor keys(int64_t layer) const;
  Tensor values(int64_t layer) const;

  int64_t layers_, batch_, capacity_, key_width_, value_width_;
  DType dtype_;
  int64_t length_ = 0;
  Arena memory_;
  void* storage_;
};

}  // namespace tril
