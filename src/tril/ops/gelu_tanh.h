// gelu_tanh: the approximation of gelu that GPT-2 uses (Hendrycks and Gimpel 2016).
//   y[i]   = x[i]/2 (1 + tanh u),   u = √(2/π) (x[i] + 0.044715 x[i]^3)
//   dx[i] += dy[i] ((1 + tanh u)/2 + x[i]/2 (1 − tanh^2 u) √(2/π) (1 + 3 · 0.044715 x[i]^2))
// Shapes: x y, any. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var gelu_tanh(Tape& tape, Var x);
extern const OpSpec gelu_tanh_spec;

}  // namespace tril
