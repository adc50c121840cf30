// swiglu: a gated layer's inside: the gate through silu, times the other half (Shazeer 2020).
//   y[i]      = s(gate[i]) up[i],   s(x) = x σ(x),   σ(x) = 1 / (1 + exp(−x))
//   dgate[i] += dy[i] up[i] σ (1 + gate[i] (1 − σ)),   σ at gate[i]
//   dup[i]   += dy[i] s(gate[i])
// Shapes: gate up y, all the same. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var swiglu(Tape& tape, Var gate, Var up);
extern const OpSpec swiglu_spec;

}  // namespace tril
