// linear: each row times a weight matrix stored [out, in], plus a bias where there is one.
//   y[r, o]   = sum_i x[r, i] W[o, i] + b[o]
//   dx[r, i] += sum_o dy[r, o] W[o, i]
//   dW[o, i] += sum_r dy[r, o] x[r, i]
//   db[o]    += sum_r dy[r, o]
// Shapes: x dx [..., in] | W dW [out, in] | b db [out] | y dy [..., out]. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// `bias` may be an empty Var.
Var linear(Tape& tape, Var x, Var weight, Var bias = {});
extern const OpSpec linear_spec;

}  // namespace tril
