// matmul: batched matrix product of two computed values (scores = Q Kᵀ, messages = weights V).
//   y[n]   = a[n] b[n]           or, with transpose_b, a[n] b[n]ᵀ
//   da[n] += dy[n] b[n]ᵀ         or dy[n] b[n]
//   db[n] += a[n]ᵀ dy[n]         or dy[n]ᵀ a[n]
// Shapes: a [..., M, K] | b [..., K, N], or [..., N, K] with transpose_b | y [..., M, N]; the leading
// dimensions are equal. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var matmul(Tape& tape, Var a, Var b, bool transpose_b = false);
extern const OpSpec matmul_spec;

}  // namespace tril
