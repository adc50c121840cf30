// softcap: keeps logits within ±cap, smoothly, and leaves small ones nearly as they are (Gemma 2, 2024).
//   y[i]   = cap tanh(x[i] / cap)
//   dx[i] += dy[i] (1 − (y[i] / cap)^2)
// Shapes: x y, any. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// cap > 0.
Var softcap(Tape& tape, Var x, double cap);
extern const OpSpec softcap_spec;

}  // namespace tril
