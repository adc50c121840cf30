// dropout: in training each number is zeroed with chance p and the rest grows to keep the mean (Srivastava et
// al. 2014, in the "inverted" form).
//   y[i]   = x[i] k[i] / (1 − p),   k[i] = 1 where draw i is at least p, else 0
//   dx[i] += dy[i] k[i] / (1 − p)
// Shapes: x y, any. The draws are a hash of the tape's seed, its step, the number of the call and i
// (tensor/draws.h), so they are the same for any number of threads and need no memory. Gradients are added.
#pragma once
#include "tril/ops/op.h"
#include "tril/tensor/draws.h"

namespace tril {

/// Which numbers one call keeps: number i is multiplied by factor(i), which is 0 or 1/(1 − p).
struct DropoutMask {
  Draws draws{0};
  double p = 0;
  bool drops() const { return p > 0; }
  bool kept(int64_t i) const { return draws.uniform_at(static_cast<uint64_t>(i)) >= p; }
  double factor(int64_t i) const { return kept(i) ? 1 / (1 - p) : 0; }
};
/// The mask of the tape's next call, over `count` numbers; one that drops nothing where the tape does not
/// record or p = 0.
DropoutMask next_mask(Tape& tape, double p, int64_t count);

/// Returns x itself where the tape does not record or p = 0. 0 ≤ p < 1.
Var dropout(Tape& tape, Var x, double p);
extern const OpSpec dropout_spec;

}  // namespace tril
