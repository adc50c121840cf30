#include "tril/train/more_steps.h"

#include <string>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/table.h"

namespace tril {

void use_steps(Config& config, int64_t steps, const RunFolder& folder, int64_t done) {
  if (steps < done)
    refuse("{}: --steps {} is less than the {} it has done", folder.path(), steps, counted(done, "step"));
  if (config.train.warmup > steps)
    refuse("{}: --steps {} is less than train.warmup {}", folder.path(), steps, config.train.warmup);
  config.train.steps = steps;
}

void tell_new_steps(const Config& config, const LoadedCheckpoint& checkpoint) {
  const auto was = checkpoint.settings().find("train.steps");
  if (was == checkpoint.settings().end() || was->second == std::to_string(config.train.steps)) return;
  log::note("{}: {} in place of {}{}", checkpoint.folder(), counted(config.train.steps, "step"), was->second,
            config.train.schedule == "constant"
                ? ""
                : fmt::format(": the {} schedule is that of the new number", config.train.schedule));
}

}  // namespace tril
