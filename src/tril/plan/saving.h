// plan/saving: how long a run's files take to write on the disk where they will lie, by writing some of them.
// What it leaves out: training (plan/speed.h).
#pragma once
#include <string>

#include "tril/train/trainer.h"

namespace tril {

/// Seconds that files of a run take.
struct SavingSpeed {
  double file = 0;        // one that is small and on the disk when its write returns: config.toml
  double checkpoint = 0;  // all that RunFolder::save does
  double line = 0;        // of metrics.jsonl: made, appended, and read again for the result
};

/// Makes a run in `folder` under a temporary name, writes what this trainer's would hold, and removes all of
/// it again. Of a checkpoint over 64 MB that much is written, and the rest taken to be as fast. Throws
/// Refusal where the disk fails.
SavingSpeed measure_saving(const Trainer& trainer, const std::string& folder);

}  // namespace tril
