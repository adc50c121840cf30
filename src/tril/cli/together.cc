// Ranks of a training command.
#include "tril/cli/together.h"

#include <fmt/format.h>

#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/threads.h"
#include "tril/cli/run_options.h"

namespace tril::cli {

int together(const Common& common, const std::function<Config()>& asked,
             const std::function<int(Parallel* parallel)>& lead) {
  std::unique_ptr<Ranks> ranks = join_ranks();
  if (ranks == nullptr) return lead(nullptr);
  const int share = threads_of_rank(*ranks);
  if (!common.threads) set_threads(share);
  Parallel parallel(std::move(ranks));
  if (!parallel.leads()) {
    log::mute();
    follow(parallel, {asked, [&](const Config& config, const Corpus& corpus) {
                        tell_plan(config, corpus, parallel.count(), parallel.ranks().local_ranks());
                      }});
    return kExitDone;
  }
  try {
    const int code = lead(&parallel);
    parallel.end();
    return code;
  } catch (const Interrupted&) {
    parallel.end(false);  // a Ctrl-C ends mpirun, too
    throw;
  } catch (...) {
    parallel.end();
    throw;
  }
}

void train_together(Parallel* parallel, const std::string& asked, LoopOptions& loop) {
  if (parallel == nullptr) return;
  loop.parallel = parallel;
  loop.plan = [parallel, asked](const Config& config, const Corpus& corpus) {
    Parallel::require_shareable(config, parallel->count());
    tell_plan(config, corpus, parallel->count(), parallel->ranks().local_ranks());
    parallel->lead_start(joint_start(asked, config, corpus));
    log::note(
        "{} ranks by {}; a sum over ranks keeps no order, so bits may differ from those of another number of "
        "ranks",
        parallel->count(), parallel->ranks().library());
  };
}

}  // namespace tril::cli
