// gelu: x times the chance that a normal number lies below it (Hendrycks and Gimpel 2016), exact.
//   y[i]   = x[i] P(x[i]),   P(x) = (1 + erf(x / √2)) / 2
//   dx[i] += dy[i] (P(x[i]) + x[i] p(x[i])),   p(x) = exp(−x^2 / 2) / √(2π)
// Shapes: x y, any. Gradients are added. The fast P is within 7.5e-8 of the exact one.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var gelu(Tape& tape, Var x);
extern const OpSpec gelu_spec;

}  // namespace tril
