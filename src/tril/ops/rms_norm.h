// rms_norm: each row over its root mean square, then a learned gain (Zhang and Sennrich 2019, eq. 4).
//   s[r]      = 1 / √((1/C) sum_c x[r, c]^2 + ε)
//   y[r, c]   = g[c] x[r, c] s[r]
//   dx[r, c] += s[r] (g[c] dy[r, c] − x[r, c] s[r]^2 k[r]),   k[r] = (1/C) sum_c g[c] dy[r, c] x[r, c]
//   dg[c]    += sum_r dy[r, c] x[r, c] s[r]
// Shapes: x y [..., C] | gain g [C]; s [R] is kept. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// `gain` (otherwise 1) may be an empty Var.
Var rms_norm(Tape& tape, Var x, Var gain, double epsilon = 1e-5);
extern const OpSpec rms_norm_spec;

}  // namespace tril
