// What train says before it starts, and all that --dry-run does: the resolved sizes of model, data and work.
// What it leaves out: times, and choosing anything.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/data/corpus.h"
#include "tril/train/settings.h"

namespace tril::cli {

/// {parameters, documents{}, targets{}, vocab_size, steps, targets_a_step, least_bytes, machine_bytes}.
nlohmann::ordered_json plan_json(const Config& config, const Corpus& corpus);
/// The same in lines.
std::string plan_text(const Config& config, const Corpus& corpus);

}  // namespace tril::cli
