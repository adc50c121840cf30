// tril resume: goes on with a run that was stopped, or further with one that is finished.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/typed.h"
#include "tril/cli/commands.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/cli/summary.h"
#include "tril/cli/together.h"
#include "tril/train/loop.h"
#include "tril/train/run_folder.h"

namespace tril::cli {

Action declare_resume(Options& options) {
  struct Asked {
    std::optional<std::string> run;
    std::optional<int64_t> steps;
  };
  auto asked = std::make_shared<Asked>();
  options.optional_word("RUN", asked->run,
                        "the run's folder (default: the one under runs/ that was written to last)");
  options.integer("--steps", asked->steps, 1, 1000000000, "a new number of steps in all");
  for (const char* option : {"--from", "--data", "--out", "--set"})
    options.lacks(
        option,
        "a run goes on as it was begun, to the same bits; another begins from its best checkpoint by " +
            typed({"train", "--from", "RUN", "--data", "PATH"}));
  options.remark("Seed, engine and dtype stay the run's own, so that its bits are those of an unbroken run.");
  return [asked](const Common& common) {
    if (common.seed || common.engine || common.dtype)
      refuse("--{} can't change in the middle of a run", common.seed     ? "seed"
                                                         : common.engine ? "engine"
                                                                         : "dtype");
    return together(common, {}, [&](Parallel* parallel) {
      RunFolder folder = RunFolder::open(asked->run ? *asked->run : newest_run());
      RunSettings overrides;
      overrides.threads = common.threads.value_or(0);
      Ending ending(common.json);
      LoopOptions loop = ending.options(folder);
      train_together(parallel, "", loop);
      ending.print(resume_run(folder, asked->steps, overrides, loop).result);
      return kExitDone;
    });
  };
}

}  // namespace tril::cli
