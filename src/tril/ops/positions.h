// positions: rows that tell a model where a token stands, to be added to the token's own row.
//   slice_rows (learned):  y[t, d] = P[start + t, d],   dP[start + t, d] += dy[t, d]. A view: nothing is
//   copied,
//                          value and gradient are the table's own memory.
//   sinusoidal_rows:       y[t, 2i] = sin(a), y[t, 2i + 1] = cos(a),   a = (start + t) · 10000^(−2i/D)
//                          (Vaswani et al. 2017, section 3.5); constant, so no gradient.
// Shapes: table P [C, D] | y [count, D], start + count ≤ C.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var slice_rows(Tape& tape, Var table, int64_t start, int64_t count);
extern const OpSpec slice_rows_spec;

/// D must be even.
Tensor sinusoidal_rows(Arena& arena, DType dtype, int64_t start, int64_t count, int64_t width);

}  // namespace tril
