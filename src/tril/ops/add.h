// add: the sum of two tensors; the second may be repeated over the first's leading dimensions (position rows
// over a batch, the residual of a block).
//   y[r, c]   = a[r, c] + b[r mod R_b, c]
//   da[r, c] += dy[r, c]
//   db[s, c] += sum over r with r mod R_b = s of dy[r, c]
// Shapes: a y [..., C] | b: a's shape, or its trailing dimensions. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var add(Tape& tape, Var a, Var b);
extern const OpSpec add_spec;

}  // namespace tril
