// head_linear: a linear map of its own for each head, all of them in one matrix.
//   into the heads:    y[r, h·out + o]  = Σ_i x[r, h·in + i] W[h·in + i, o]          out is W's width
//   out of the heads:  y[r, h·out + o]  = Σ_i x[r, h·in + i] W[h·out + o, i]         in is W's width
// Backward: dx += dy W_hᵀ or dy W_h, dW_h += x_hᵀ dy_h or dy_hᵀ x_h, W_h being the rows of head h.
// Why it exists: where one query asks, (W_Q x)·(W_K z) = (W_Kᵀ W_Q x)·z and Σ_j a_j W_V z_j = W_V Σ_j a_j
// z_j, so keys and values of all positions need not be computed (docs/decisions/009-one-query.md). Shapes: x
// […, heads·in] | W [heads·A, D] | y […, heads·out]; into: in = A, out = D; out of: in = D, out = A.
#pragma once
#include "tril/ops/op.h"

namespace tril {

enum class HeadMap : uint8_t { into, out_of };

Var head_linear(Tape& tape, Var x, Var weight, int64_t heads, HeadMap map);
extern const OpSpec head_linear_spec;

}  // namespace tril
