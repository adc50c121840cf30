// scale: every number times a constant (1/√d_k of the attention scores).
//   y[i]   = a x[i]
//   dx[i] += a dy[i]
// Shapes: x y, any. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var scale(Tape& tape, Var x, double a);
extern const OpSpec scale_spec;

}  // namespace tril
