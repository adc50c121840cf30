// relu: the positive part.
//   y[i]   = max(x[i], 0)
//   dx[i] += dy[i] where x[i] > 0 (and nothing at 0, as in PyTorch)
// Shapes: x y, any. Gradients are added. A NaN stays a NaN.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var relu(Tape& tape, Var x);
extern const OpSpec relu_spec;

}  // namespace tril
