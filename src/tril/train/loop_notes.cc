#include "tril/train/loop_notes.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/model/first_loss.h"
#include "tril/train/frozen.h"

namespace tril {

using Json = nlohmann::ordered_json;

void tell_trained(const Parameters& parameters) {
  const int64_t all = parameters.count(), trained = trained_count(parameters);
  if (trained < all) log::note("model: {}", trained_share(all, trained));
}

void tell_first_loss(const Config& config, double loss) {
  const int64_t tokens = config.model.vocab_size;
  const double even = std::log(static_cast<double>(tokens));
  if (!config.train.from.empty())
    return log::note("step 1: loss {:.4f} before any update; an even guess gives {:.4f}", loss, even);
  const double expected = expected_first_loss(config.model);
  log::note("step 1: loss {:.4f}; an even guess among {} gives ln {} = {:.4f}{}", loss,
            counted(tokens, "token"), tokens, even,
            expected == even
                ? std::string()
                : fmt::format(", and with the spread that fresh logits have here, {:.4f}", expected));
  if (std::fabs(loss - expected) > 0.1 * expected && tokens > 1)
    log::warn("the first loss {:.4f} is over 10% away from {:.4f}: the first weights favour some tokens",
              loss, expected);
}

Json platform(int ranks) {
  return {{"version", program_version()},
          {"vector_level", vector_level()},
          {"onednn", onednn_version()},
          {"ranks", ranks}};
}

void tell_platform(const std::string& where, const Json& there, int ranks) {
  const Json here = platform(ranks);
  for (const auto& [name, value] : here.items()) {
    const Json unsaid = name == "ranks" ? Json(1) : Json();
    if (const Json then = there.is_object() ? there.value(name, unsaid) : unsaid; then != value)
      log::warn("{}: trained so far with {} {}, this is {}: the bits of the next steps may differ", where,
                name, then.dump(), value.dump());
  }
}

}  // namespace tril
