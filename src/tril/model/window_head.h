// window_head: what the window models share behind their hidden layer. It leaves out the logits themselves,
// which forward gives.
#pragma once
#include "tril/model/model.h"
#include "tril/ops/linear_cross_entropy.h"

namespace tril {

/// The loss of hidden rows [B, H] behind the vocabulary head, whose logits are never kept whole.
inline CrossEntropy window_loss(Tape& tape, const Parameters& parameters, Var hidden, int head_weight,
                                int head_bias, const Batch& batch, Reduce reduce) {
  return linear_cross_entropy(tape, hidden, tape.parameter(parameters, head_weight),
                              tape.parameter(parameters, head_bias), tape.constant(batch.targets),
                              {.reduce = reduce});
}

}  // namespace tril
