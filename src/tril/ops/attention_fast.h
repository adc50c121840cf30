// attention_fast: the fast engine's loops of attention.h. Heads of a sequence go through matrix products of
// their own (small_product) up to 64 positions and through the library's beyond; a few queries, as
// a window model and generation have them, through row primitives; short sequences of narrow heads through
// attention_narrow. What it leaves out: the definition (attention.cc) and the layout.
#pragma once
#include "tril/ops/attention_layout.h"
#include "tril/ops/dropout.h"
#include "tril/tensor/arena.h"

namespace tril::attention_fast {

/// How many numbers forward() keeps as weights.
int64_t kept_numbers(const AttentionLayout& s, const DropoutMask& mask);

/// Shapes as in attention.h; w [kept_numbers()] is kept for backward, in an order of its own (by_head()).
/// `scratch` [pairs · kv_heads] may be null where nothing is dropped.
void forward(const AttentionLayout& s, const DropoutMask& mask, const float* q, const float* k,
             const float* v, float* w, float* m, float* scratch);
/// Adds to dq, dk and dv, each of which may be null.
void backward(const AttentionLayout& s, const DropoutMask& mask, const float* q, const float* k,
              const float* v, const float* w, const float* dm, float* dq, float* dk, float* dv,
              float* scratch);

/// What forward() left in w, as [B, H, Tq, Tk]; w itself where it has that order. Not for documents.
Tensor by_head(Arena& arena, const AttentionLayout& s, const DropoutMask& mask, const Tensor& w);

}  // namespace tril::attention_fast
