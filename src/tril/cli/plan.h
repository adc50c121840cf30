// All that --dry-run does: the resolved sizes of model, data and work, and the memory and time that they
// take. What it leaves out: choosing anything (plan/dial.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/data/corpus.h"
#include "tril/plan/speed.h"
#include "tril/train/settings.h"

namespace tril::cli {

/// {parameters, documents{}, targets{}, vocab_size, steps, targets_a_step, least_bytes, machine_bytes,
/// planned_bytes, bytes{}, planned_seconds, seconds{}}. Takes some steps of the run and writes some of its
/// files to time them; throws Refusal where the machine has not the memory.
nlohmann::ordered_json plan_json(const Config& config, const Corpus& corpus, const SpeedProbe& probe);
/// The same in lines.
std::string plan_text(const Config& config, const Corpus& corpus, const nlohmann::ordered_json& plan);

}  // namespace tril::cli
