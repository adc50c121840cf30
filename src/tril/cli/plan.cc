// The plan of a training run.
#include "tril/cli/plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/model/parameter_count.h"
#include "tril/plan/memory.h"
#include "tril/plan/speed.h"
#include "tril/train/frozen.h"
#include "tril/train/size_check.h"
#include "tril/train/time_budget.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

Json by_part(const Corpus& corpus, int64_t PartAudit::*count) {
  Json all;
  for (size_t p = 0; p < kParts; ++p)
    all[std::string(part_name(static_cast<Part>(p)))] = corpus.audit.parts[p].*count;
  return all;
}

}  // namespace

Json plan_json(const Config& config, const Corpus& corpus, const SpeedProbe& probe) {
  constexpr double kMeasured = 1;  // seconds
  const int64_t validation = corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets;
  const MemoryPlan memory = require_memory(config, validation, machine_memory());
  if (config.train.minutes == 0) guess_speed(config);  // the run says it before its first step
  const double reading = program_seconds();
  const Speed speed = measure_speed(config, corpus, kMeasured, probe);
  const bool timed = config.train.minutes > 0;
  Config fixed = config;
  if (timed) fixed.train.steps = steps_in(config, corpus, speed, 60 * config.train.minutes - reading);
  const RunSeconds run = run_seconds(fixed, corpus, speed);
  return {{"parameters", parameter_count(config.model)},
          {"trained_parameters", memory.trained},
          {"documents", by_part(corpus, &PartAudit::documents)},
          {"targets", by_part(corpus, &PartAudit::targets)},
          {"vocab_size", config.model.vocab_size},
          {"steps", fixed.train.steps},
          {"step_seconds", speed.step},
          {"targets_a_step", targets_a_step(config)},
          {"least_bytes", least_training_bytes(config)},
          {"machine_bytes", machine_memory()},
          {"planned_bytes", memory.total()},
          {"bytes",
           {{"program_and_text", memory.resident + memory.library},
            {"parameters", memory.parameters},
            {"gradients", memory.gradients},
            {"moments", memory.moments},
            {"activations", memory.activations}}},
          {"planned_seconds", timed ? 60 * config.train.minutes : reading + run.total()},
          {"seconds",
           {{"data", reading},
            {"start", run.start},
            {"train", run.train},
            {"eval", run.eval},
            {"files", run.files},
            {"samples", run.samples}}}};
}

std::string plan_text(const Config& config, const Corpus& corpus, const Json& plan) {
  const Audit& audit = corpus.audit;
  std::string text = fmt::format("model    {}, {}, vocabulary {}, context {}\n", config.model.family,
                                 trained_share(parameter_count(config.model), plan.at("trained_parameters")),
                                 with_commas(config.model.vocab_size), with_commas(config.model.context));
  text += "data     " + (corpus.source.path.empty() ? corpus.source.kind : corpus.source.path) + ":";
  for (size_t p = 0; p < kParts; ++p)
    text += fmt::format("{} {}, {} ({})", p > 0 ? ";" : "", counted(audit.parts[p].documents, "document"),
                        counted(audit.parts[p].targets, "target"), part_name(static_cast<Part>(p)));
  text += fmt::format("\nwork     {}{} of {}\n", config.train.minutes > 0 ? "about " : "",
                      counted(plan.at("steps").get<int64_t>(), "step"),
                      counted(targets_a_step(config), "target"));
  const auto bytes = [&](const Json& value) { return short_bytes(value.get<double>()); };
  const Json& parts = plan.at("bytes");
  text += fmt::format(
      "memory   about {} of the machine's {}: program and text {}, parameters {}, gradients {}, "
      "moments {}, activations {}\n",
      bytes(plan.at("planned_bytes")), bytes(plan.at("machine_bytes")), bytes(parts.at("program_and_text")),
      bytes(parts.at("parameters")), bytes(parts.at("gradients")), bytes(parts.at("moments")),
      bytes(parts.at("activations")));
  text += fmt::format("time     about {} on {}\n", short_time(plan.at("planned_seconds").get<double>()),
                      counted(threads(), "thread"));
  return text;
}

}  // namespace tril::cli
