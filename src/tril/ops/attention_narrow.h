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

/// w [Tq, Tk, heads] is kept for backward where it is not null; places that the mask hides are not written.
void attention_narrow(const NarrowAttention& a, const float* q, const float* k, const float* v, float* w,
                      float* m);
/// Adds to dq, dk and dv, each of which may be null.
void attention_narrow_backward(const NarrowAttention& a, const float* q, const float* k, const float* v,
                               const float* w, const float* dm, float* dq, float* dk, float* dv);

}  // namespace tril
