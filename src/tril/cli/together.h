// A training command by one process, or by all ranks that mpirun started. What it leaves out: how they train
// (train/parallel.h).
#pragma once
#include <functional>
#include <string>

#include "tril/cli/commands.h"
#include "tril/train/loop.h"
#include "tril/train/parallel.h"

namespace tril::cli {

/// Runs `lead` where this process is alone (with null) or the first rank; any other rank follows it without a
/// word. Ranks on one machine share its processors, unless --threads says how many each takes. Returns the
/// exit code. Throws Refusal where mpirun started several ranks and tril has no MPI.
int together(const Common& common, const std::function<Config()>& asked,
             const std::function<int(Parallel* parallel)>& lead);

/// Adds to what training calls back: the plan is that of one rank, and all ranks must agree before step 1.
void train_together(Parallel* parallel, const std::string& asked, LoopOptions& loop);

}  // namespace tril::cli
