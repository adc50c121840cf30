// profiled_step: one training step under a profile, with its trace and its dearest ops. What it leaves out:
// which step that is, and where the trace is written (loop.cc).
#pragma once
#include <string>

#include "tril/train/trainer.h"

namespace tril {

struct ProfiledStep {
  StepResult result;
  std::string trace;    // JSON for Perfetto and Chrome (base/profile.h)
  std::string dearest;  // lines: the five ops that took most of the step
};

/// Takes the trainer's next step, to the same bits as step() would. Throws NonFinite as it does.
ProfiledStep profiled_step(Trainer& trainer);

}  // namespace tril
