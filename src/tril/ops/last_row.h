// last_row: the newest position of each sequence, the only one whose query a window model needs.
//   y[b, 0, d]      = x[b, T−1, d]
//   dx[b, T−1, d]  += dy[b, 0, d]
// Shapes: x [B, T, D], T ≥ 1 | y [B, 1, D]. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var last_row(Tape& tape, Var x);
extern const OpSpec last_row_spec;

}  // namespace tril
