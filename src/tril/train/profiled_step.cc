// One step under a profile.
#include "tril/train/profiled_step.h"

#include "tril/base/profile.h"
#include "tril/base/threads.h"

namespace tril {

ProfiledStep profiled_step(Trainer& trainer) {
  constexpr size_t kShown = 5;
  ProfiledStep out;
  Profile profile(threads());
  const std::string name = fmt::format("step {}", trainer.steps_done() + 1);
  profile.start();
  {
    const ProfilePhase whole(name);
    out.result = trainer.step();
  }
  profile.stop();
  out.trace = profile_json(profile, "tril train, " + name);
  out.dearest = dearest_ops_text(profile, kShown);
  return out;
}

}  // namespace tril
