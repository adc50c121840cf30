// rotary: turns pairs of a head's columns by an angle that grows with the position, so that a score depends
// on how far apart query and key stand (Su et al. 2021, eq. 34).
//   angle[t, i]         = position(t) · theta^(−2i/D),   i < D/2
//   y[b,t,h,p], y[..,q] = x[p] cos − x[q] sin,   x[p] sin + x[q] cos
//     with (p, q) = (i, i + D/2) in the pairing "half", (2i, 2i + 1) in "interleaved"
//   dx[p] += dy[p] cos + dy[q] sin,   dx[q] += −dy[p] sin + dy[q] cos   (turned back)
// Shapes: x y [B, T, H·D], D even. Angles are taken in double. Gradients are added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

struct RotaryOptions {
  int64_t heads = 1;
  double theta = 10000;
  bool interleaved = false;
  int64_t start = 0;   // the position of the first row: 0, or the length of a cache
  Tensor places = {};  // or each row's position, i32 [T]: documents laid one after the other
};
Var rotary(Tape& tape, Var x, const RotaryOptions& options);
extern const OpSpec rotary_spec;

}  // namespace tril
