// schedule: the learning rate of each step. Steps count from 1; W is `warmup`, N the run's steps, C
// `cooldown`.
//   rising, step ≤ W:       lr · step / (W + 1)
//   constant:               lr
//   cosine:                 min + (lr − min) · (1 + cos(π p)) / 2,   p = (step − 1 − W) / (N − W)
//   linear:                 min + (lr − min) · (1 − p)
//   trapezoid:              lr, and in the last C steps min + (lr − min) · (N + 1 − step) / (C + 1)
// After the last step the rate stays where it ended, so a run that is extended goes on from there.
#pragma once
#include <cstdint>

#include "tril/train/settings.h"

namespace tril {

/// The rate of step ≥ 1.
double learning_rate_at(const TrainSettings& settings, int64_t step);

}  // namespace tril
