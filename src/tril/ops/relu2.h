// relu2: the positive part, squared (So et al. 2021, "Primer").
//   y[i]   = max(x[i], 0)^2
//   dx[i] += dy[i] 2 max(x[i], 0)
// Shapes: x y, any. Gradients are added. A NaN stays a NaN.
#pragma once
#include "tril/ops/op.h"

namespace tril {

Var relu2(Tape& tape, Var x);
extern const OpSpec relu2_spec;

}  // namespace tril
