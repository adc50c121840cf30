// mask: what a query may not see becomes −∞ before the softmax.
//   query i stands at position p = Tk − Tq + i; key j is visible when j ≤ p (causal) and, for a real query, j
//   ≥ pad[b]. y[b, i, j]   = x[b, i, j] if visible, else −∞ dx[b, i, j] += dy[b, i, j] if visible
// A padded query (p < pad[b]) keeps its causal prefix, so that every row has something to see.
// Shapes: x y [..., Tq, Tk], where ... is B, or B and H | pad [B] (i32, padded positions at the left).
// Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// The one rule of visibility, used by this op and by attention.
/// With causal false (an encoder) every real key is visible to every real query.
struct Visible {
  bool causal = true;
  int64_t queries = 0, keys = 0;
  /// First and one past the last key that query i may see, with `pad` padded positions at the left.
  int64_t first(int64_t i, int64_t pad) const { return keys - queries + i >= pad ? pad : 0; }
  int64_t end(int64_t i) const {
#if defined(TRIL_BREAK_MASK)
    return causal ? (keys - queries + i + 2 < keys ? keys - queries + i + 2 : keys) : keys;
#elif defined(TRIL_BREAK_ONE_QUERY)
    return causal ? keys - queries + i + (queries < keys ? 0 : 1) : keys;
#else
    return causal ? keys - queries + i + 1 : keys;
#endif
  }
};

/// `pad` may be an empty Var.
Var mask(Tape& tape, Var x, Var pad = {}, bool causal = true);
extern const OpSpec mask_spec;

}  // namespace tril
