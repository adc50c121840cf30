// cross_entropy: how surprised the logits are by the right ids, in nats.
//   lse[r]    = m[r] + log sum_c exp(x[r, c] − m[r]),   m[r] = max_c x[r, c]
//   loss      = (1/N) sum over counted r of lse[r] − x[r, t[r]]      (mean; without 1/N: sum)
//   dx[r, c] += g (exp(x[r, c] − lse[r]) − [c = t[r]]) / N           for counted r
// A row whose target is negative is not counted: it is in neither the sum nor N. Nothing counted gives 0 of
// 0: loss 0, no gradient. Shapes: logits x [..., V] | targets t [...] (i32) | loss one number. Gradients are
// added.
#pragma once
#include "tril/ops/op.h"

namespace tril {

enum class Reduce : uint8_t { mean, sum };

struct CrossEntropy {
  Var loss;             // []
  int64_t counted = 0;  // N
};
CrossEntropy cross_entropy(Tape& tape, Var logits, Var targets, Reduce reduce = Reduce::mean);
extern const OpSpec cross_entropy_spec;

}  // namespace tril
