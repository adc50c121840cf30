// linear_cross_entropy: the vocabulary head and its loss at once, so that the logits of a large vocabulary
// are never kept whole: they are made tile by tile, reduced to one number a row, and made again for the
// gradients; or, where the tape knows what backward will bring (Tape::promise), in blocks of whole rows that
// give their gradients at once, going forward.
//   l[r, v]   = f(sum_d x[r, d] W[v, d] + b[v]),   f(a) = cap tanh(a / cap), or a without a cap
//   loss      = (1/N) sum over counted r of lse[r] − l[r, t[r]],   lse[r] = log sum_v exp l[r, v]
//   p[r, v]   = (g/N) (exp(l[r, v] − lse[r]) − [v = t[r]]) f'(a[r, v])   for counted r, else 0
//   dx[r, d] += sum_v p[r, v] W[v, d],   dW[v, d] += sum_r p[r, v] x[r, d],   db[v] += sum_r p[r, v]
// A row whose target is negative is not counted, as in cross_entropy. Shapes: x [..., D] | W [V, D] | b [V] |
// targets t [...] (i32) | loss one number; lse [R] is kept. Gradients are added.
#pragma once
#include "tril/ops/cross_entropy.h"

namespace tril {

struct LinearCrossEntropyOptions {
  Reduce reduce = Reduce::mean;
  double cap = 0;  // 0 = none
};

/// `bias` may be an empty Var.
CrossEntropy linear_cross_entropy(Tape& tape, Var x, Var weight, Var bias, Var targets,
                                  const LinearCrossEntropyOptions& options = {});
extern const OpSpec linear_cross_entropy_spec;

}  // namespace tril
