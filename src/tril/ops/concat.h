// concat: the vectors of a window's slots laid side by side, the input of the window MLP. Rows are
// contiguous, so this is a change of shape and moves nothing: value and gradient are the same memory.
//   y[b, t·D + d] = x[b, t, d],   dx is dy
// Shapes: x [B, T, D] | y [B, T·D].
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var concat(Tape& tape, Var x);
/// The same numbers under another shape of the same count.
Var reshape(Tape& tape, Var x, Shape shape);
extern const OpSpec concat_spec;

}  // namespace tril
