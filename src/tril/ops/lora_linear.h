// lora_linear: a linear layer and a low-rank product beside it (LoRA, Hu et al. 2021, section 4.1). W + s B A
// is never formed: the two thin products cost r (in + out) multiplications a row.
//   h[r, k]   = sum_i x[r, i] A[k, i]
//   y[r, o]   = sum_i x[r, i] W[o, i] + b[o] + s sum_k h[r, k] B[o, k]
//   dh[r, k]  = s sum_o dy[r, o] B[o, k]
//   dA[k, i] += sum_r dh[r, k] x[r, i],   dB[o, k] += s sum_r dy[r, o] h[r, k]
//   dx[r, i] += sum_k dh[r, k] A[k, i] + linear's;   dW and db are linear's
// Shapes: x dx [..., in] | W dW [out, in] | b db [out] | A dA [k, in] | B dB [out, k] | y dy [..., out]; h
// [R, k] is kept for backward. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// `bias` may be an empty Var. `scale` is s.
Var lora_linear(Tape& tape, Var x, Var weight, Var bias, Var a, Var b, double scale);
extern const OpSpec lora_linear_spec;

}  // namespace tril
