// Sizes that can't work are refused before anything is allocated: a lower bound of what training needs,
// against the machine's memory. What it leaves out: an estimate to plan by (plan/).
#pragma once
#include <cstdint>

#include "tril/train/settings.h"

namespace tril {

/// Bytes that training with this configuration needs at least: weights, gradients, two moments, and the block
/// activations of one part of a batch. config.model.vocab_size 0 leaves the vocabulary out. Stays at
/// INT64_MAX where the true number is larger.
int64_t least_training_bytes(const Config& config);

/// Throws Refusal with both numbers where that is more than `machine` bytes.
void refuse_oversize(const Config& config, int64_t machine);

}  // namespace tril
