// layer_norm: each row minus its mean, over its standard deviation, then a learned gain and bias (Ba et al.
// 2016, eq. 3-4).
//   mean[r]   = (1/C) sum_c x[r, c],   s[r] = 1 / √((1/C) sum_c (x[r, c] − mean[r])^2 + ε)
//   h[r, c]   = (x[r, c] − mean[r]) s[r],   y[r, c] = g[c] h[r, c] + b[c]
//   dx[r, c] += s[r] (g[c] dy[r, c] − m1[r] − h[r, c] m2[r]),
//               m1[r] = (1/C) sum_c g[c] dy[r, c],   m2[r] = (1/C) sum_c g[c] dy[r, c] h[r, c]
//   dg[c]    += sum_r dy[r, c] h[r, c],   db[c] += sum_r dy[r, c]
// Shapes: x y [..., C] | gain g [C] | bias b [C]; mean and s [R] are kept. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

/// `gain` (otherwise 1) and `bias` (otherwise 0) may be empty Vars.
Var layer_norm(Tape& tape, Var x, Var gain, Var bias, double epsilon = 1e-5);
extern const OpSpec layer_norm_spec;

}  // namespace tril
