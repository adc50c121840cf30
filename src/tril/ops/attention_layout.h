// attention_layout: where the parts of each head lie in memory, for attention.cc. Examples stand in a batch
// of equal length, or behind a cache of more room than keys, or as documents of any length laid one after the
// other. What it leaves out: arithmetic.
#pragma once
#include <algorithm>
#include <cstdint>

#include "tril/ops/mask.h"

namespace tril {

/// One head of one example: how long it is, and where its first query, key, … is. Rows of queries are
/// q_width() apart, and so on; weights are [queries, keys].
struct AttentionHead {
  int64_t queries, keys;
  int64_t q, k, v, m, w;
  int64_t pad;
  Visible visible;
  int64_t first(int64_t i) const { return visible.first(i, pad); }
  int64_t end(int64_t i) const { return visible.end(i); }
};

struct AttentionLayout {
  int64_t batch, queries, keys, heads, kv_heads, head_k, head_v;
  double scale;
  bool causal;
  const int32_t* pad = nullptr;
  int64_t stored_keys = 0;  // rows that an example's keys take in memory: keys, or a cache's capacity
  /// Documents: where each one's rows begin, and its weights if there were one head; batch + 1 numbers each.
  const int64_t *first_row = nullptr, *first_pair = nullptr;

  int64_t q_width() const { return heads * head_k; }
  int64_t k_width() const { return kv_heads * head_k; }
  int64_t v_width() const { return kv_heads * head_v; }
  int64_t m_width() const { return heads * head_v; }
  int64_t shared() const { return heads / kv_heads; }  // query heads to a key head
  /// Query–key pairs of all examples in one head, and before example b.
  int64_t pairs() const { return pairs_before(batch); }
  /// The most keys that one example has.
  int64_t longest_keys() const {
    int64_t most = first_row == nullptr ? keys : 0;
    for (int64_t b = 0; first_row != nullptr && b < batch; ++b)
      most = std::max(most, first_row[b + 1] - first_row[b]);
    return most;
  }
  int64_t pairs_before(int64_t b) const { return first_pair != nullptr ? first_pair[b] : b * queries * keys; }

  AttentionHead head(int64_t b, int64_t h) const {
    const bool documents = first_row != nullptr;
    const int64_t length = documents ? first_row[b + 1] - first_row[b] : 0;
    const int64_t n = documents ? length : queries, m = documents ? length : keys, group = h / shared();
    const int64_t row = documents ? first_row[b] : b * queries;
    const int64_t key_row = documents ? first_row[b] : b * stored_keys;
    return {n,
            m,
            row * q_width() + h * head_k,
            key_row * k_width() + group * head_k,
            key_row * v_width() + group * head_v,
            row * m_width() + h * head_v,
            pairs_before(b) * heads + h * n * m,
            pad == nullptr ? 0 : pad[b],
            {causal, n, m}};
  }
};

}  // namespace tril
