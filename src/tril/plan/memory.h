// plan/memory: how many bytes training will take, before it takes them. Parameters, gradients and moments are
// counted from their shapes; activations by the model's own forward and backward pass on a tape that counts
// and computes nothing, so that no second formula can drift from it. What it leaves out: time (plan/speed.h).
#pragma once
#include <cstdint>
#include <string>

#include "tril/train/settings.h"
#include "tril/train/step_memory.h"

namespace tril {

/// Bytes of each kind.
struct MemoryPlan {
  int64_t resident = 0;  // the program and the text, as they are now
  int64_t trained = 0;   // numbers that are not frozen, not bytes
  int64_t parameters = 0, gradients = 0, moments = 0;
  int64_t activations = 0;  // the largest of a training step and an evaluation
  int64_t library = 0;      // what the matrix products' code takes besides
  int64_t peak_so_far = 0;  // reading the text may have taken more than training will
  int64_t total() const;
};

/// The plan of a resolved configuration with model.vocab_size set, for this process as it stands: its text is
/// read, nothing is trained yet.
MemoryPlan plan_memory(const Config& config, int64_t validation_targets);

/// The plan of a configuration that fits. Throws Refusal where it is over `machine` bytes: both numbers, and
/// which of recompute, accumulate and a smaller batch would fit, or that none does.
MemoryPlan require_memory(const Config& config, int64_t validation_targets, int64_t machine);

/// "61.2 MB: parameters 1.3 MB, gradients 1.3 MB, …".
std::string memory_text(const MemoryPlan& plan);

}  // namespace tril
