// step_memory: how many bytes of activations a training step and an evaluation take, counted before anything
// is made: the model's own forward and backward pass on a tape that counts and computes nothing, so that no
// second formula can drift from it. What it leaves out: weights and moments (plan/memory.h).
#pragma once
#include <cstdint>

#include "tril/train/settings.h"

namespace tril {

/// Bytes that a training step takes at most; the configuration is resolved, with model.vocab_size set.
int64_t step_bytes(const Config& config);
/// Those of an evaluation over so many targets.
int64_t evaluation_bytes(const Config& config, int64_t targets);

}  // namespace tril
