// softmax: each row becomes positive weights that sum to 1.
//   m[r]      = max_c x[r, c]
//   y[r, c]   = exp(x[r, c] − m[r]) / sum_k exp(x[r, k] − m[r])
//   dx[r, c] += y[r, c] (dy[r, c] − sum_k y[r, k] dy[r, k])
// A row that is −∞ throughout has nothing to weigh: it gives zeros, and no gradient.
// Shapes: x y [..., C]. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var softmax(Tape& tape, Var x);
extern const OpSpec softmax_spec;

}  // namespace tril
