// first_loss: what the loss of fresh weights should be, so that one that is not can be told. Fresh logits are
// about normal with variance s² around 0, and the mean of log sum exp less one of V such numbers is
//   ln V + s²/2        while s² ≤ 2 ln V, and s √(2 ln V) beyond, where the largest logit rules alone.
// Where the vocabulary head reads rows of variance 1 (a norm stands before it), s² is d times the variance of
// its weights; elsewhere the rows are small and s² counts as 0. It leaves out soft caps and biases.
#pragma once
#include "tril/model/config.h"

namespace tril {

/// s² by design: 1/3 for uniform weights of ±1/√d, d · 0.0004 for normal(0, 0.02), 0 where no norm stands
/// before the head.
double fresh_logit_variance(const ModelConfig& config);

/// In nats; vocab_size is set.
double expected_first_loss(const ModelConfig& config);

}  // namespace tril
