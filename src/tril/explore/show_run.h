// What tril show tells of a run's folder and of one checkpoint: every checkpoint is verified whole, and what
// is missing or strange is named. What it leaves out: single files (show.h).
#pragma once
#include <string>

#include "tril/explore/show.h"

namespace tril {

/// Throw Refusal where there is nothing whole to show.
Shown show_run(const std::string& path);
Shown show_checkpoint(const std::string& path);

}  // namespace tril
