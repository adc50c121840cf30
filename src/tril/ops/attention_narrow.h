// attention_narrow: attention.h's loops for short sequences of narrow heads, as models 16 to 64 wide have
// them. A vector holds the same columns of a row as memory does, several heads side by side; a head's dot
// product is a sum over its own lanes, so no row is turned and no head is a product of its own. One pair of
// positions costs a dozen instructions for all the heads of a vector. What it leaves out: dropout, shared key
// heads, widths that are not whole vectors, long sequences (attention_fast.cc).
#pragma once
#include <cstdint>

#include "tril/ops/mask.h"

namespace tril {

/// One example: rows of q, k, v and messages are all `width` numbers, heads · head.
struct NarrowAttention {
  int64_t queries = 0, keys = 0, width = 0, head = 0;
  int64_t pad = 0;
  Visible visible = {};
  float scale = 1;
};

/// Whether the machine's vectors suit these heads, and there are no more keys than is worth it.
bool attention_is_narrow(int64_t head, int64_t width, int64_t keys);

/// Where examples before this one have that many pairs of positions and that many queries: its first number
/// in what all keep for backward.
constexpr int64_t attention_narrow_place(int64_t pairs, int64_t queries, int64_t width) {
  return (pairs + 3 * queries + 3) / 4 * width;
}
/// The weight of head h, query i and visible key j in what was kept.
float attention_narrow_weight(const NarrowAttention& a, const float* w, int64_t h, int64_t i, int64_t j);

/// The weights are kept in w for backward where it is not null, in an order of their own.
void attention_narrow(const NarrowAttention& a, const float* q, const float* k, const float* v, float* w,
                      float* m);
/// Adds to dq, dk and dv, each of which may be null.
void attention_narrow_backward(const NarrowAttention& a, const float* q, const float* k, const float* v,
                               const float* w, const float* dm, float* dq, float* dk, float* dv);

}  // namespace tril
