// A run that goes on to another number of steps than it began with. What it leaves out: going on (loop.h).
#pragma once
#include <cstdint>

#include "tril/train/checkpoint.h"
#include "tril/train/config.h"
#include "tril/train/run_folder.h"

namespace tril {

/// Takes --steps over the run's own number. Throws Refusal where it is below what is done, or below the
/// warm-up.
void use_steps(Config& config, int64_t steps, const RunFolder& folder, int64_t done);

/// Notes a new number of steps, by --steps or by hand in config.toml, which bends the schedule.
void tell_new_steps(const Config& config, const LoadedCheckpoint& checkpoint);

}  // namespace tril
