#include "tril/explore/show_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/quote.h"
#include "tril/formats/hf_config.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/import_run.h"
#include "tril/train/run_folder.h"
#include "tril/train/run_settings.h"

namespace tril {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

/// Counts the lines of metrics.jsonl; warns of one that is no JSON object.
int64_t count_metrics(const RunFolder& run, Shown& shown) {
  const std::string text = run.has("metrics.jsonl") ? read_file(run.at("metrics.jsonl")) : "";
  int64_t lines = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    ++lines;
    if (!json::parse(text.begin() + static_cast<long>(at), text.begin() + static_cast<long>(end), nullptr,
                     false)
             .is_object()) {
      shown.warnings.push_back(fmt::format("{}: line {} is no JSON object", run.at("metrics.jsonl"), lines));
    }
    at = end + 1;
  }
  return lines;
}

/// Verifies each checkpoint whole; returns the steps of the good ones.
std::vector<int64_t> good_checkpoints(const RunFolder& run, Shown& shown) {
  std::vector<int64_t> good;
  for (const int64_t step : run.steps()) {
    try {
      LoadedCheckpoint(run.at("checkpoints/" + checkpoint_name(step)));
      good.push_back(step);
    } catch (const Refusal& refusal) {
      shown.warnings.emplace_back(refusal.what());
    }
  }
  return good;
}

/// Warns of what a run should have and lacks (no text, where it was imported), and of what belongs to none.
void name_pieces(const RunFolder& run, bool imported, Shown& shown) {
  for (const char* name :
       {"tokenizer.json", "data.json", "metrics.jsonl", "checkpoints", "best.json", "last.json"})
    if (!run.has(name) && !folder_exists(run.at(name)) &&
        !(imported && std::string_view(name) == "data.json"))
      shown.warnings.push_back(fmt::format("{}: is missing", run.at(name)));
  for (const char* name : {"best.json", "last.json"}) {
    const auto step = std::string_view(name) == "best.json" ? run.best() : run.last();
    if (run.has(name) && !step)
      shown.warnings.push_back(fmt::format("{}: names no checkpoint", run.at(name)));
  }
  static const std::set<std::string> kKnown = {"config.toml", "tokenizer.json", "generation_config.json",
                                               "data.json",   "metrics.jsonl",  "profile.json",
                                               "checkpoints", "best.json",      "last.json",
                                               "result.json", "test.jsonl",     "lock"};
  const auto strange = [&](const std::string& folder, const auto& known) {
    for (const std::string& name : list_folder(folder)) {
      if (known(name)) continue;
      shown.warnings.push_back(fmt::format(
          "{}/{}: {}", folder, escaped(name),
          is_temporary_name(name) ? "is unfinished: a process died over it" : "is no part of a run"));
    }
  };
  strange(run.path(), [&](const std::string& name) { return kKnown.count(name) > 0; });
  std::set<std::string> steps;
  for (const int64_t step : run.steps()) steps.insert(checkpoint_name(step));
  if (folder_exists(run.at("checkpoints")))
    strange(run.at("checkpoints"),
            [&](const std::string& name) { return steps.count(name) > 0 || is_set_aside(name); });
}

}  // namespace

Shown show_checkpoint(const std::string& path) {
  const LoadedCheckpoint checkpoint(path);
  Shown shown{path, "checkpoint"};
  add_tensors(shown, checkpoint.model().tensors(), "model/");
  add_tensors(shown, checkpoint.optimizer().tensors(), "optimizer/");
  shown.metadata = ordered_json{{"step", checkpoint.step()},
                                {"best_step", checkpoint.best_step()},
                                {"tokenizer", checkpoint.tokenizer()},
                                {"training", ordered_json::parse(checkpoint.state())}}
                       .dump();
  return shown;
}

Shown show_run(const std::string& path) {
  const RunFolder run = RunFolder::view(path);
  Shown shown{run.path(), "run"};
  const RunSettingsFile settings = read_run_settings(run.at("config.toml"));
  const Config& config = settings.config;
  ordered_json metadata = {{"preset", config.preset}, {"family", config.model.family}};
  for (const char* name : {"data.json", "result.json"}) {
    if (!run.has(name)) continue;
    const std::string bytes = read_file(run.at(name));
    if (!json::accept(bytes)) refuse("{}: is not JSON", run.at(name));
    if (!parse_json_file(bytes, run.at(name)).is_object())
      shown.warnings.push_back(fmt::format("{}: is no JSON object", run.at(name)));
  }
  metadata["finished"] = run.has("result.json");
  std::string fingerprint;
  if (run.has("tokenizer.json")) {
    const auto tokenizer = load_tokenizer(run.at("tokenizer.json"));
    fingerprint = tokenizer->fingerprint();
    metadata["tokenizer"] = std::string(tokenizer->kind());
    metadata["vocab_size"] = tokenizer->vocab_size();
  }
  metadata["metrics_lines"] = count_metrics(run, shown);
  const std::vector<int64_t> good = good_checkpoints(run, shown);
  metadata["checkpoints"] = good;
  metadata["best"] = run.best() ? ordered_json(*run.best()) : ordered_json();
  metadata["last"] = run.last() ? ordered_json(*run.last()) : ordered_json();
  if (good.empty() && !run.steps().empty())
    refuse("{}\n{}: no checkpoint is whole", shown.warnings.back(), path);
  if (good.empty()) {
    name_pieces(run, false, shown);
  } else {
    const bool best_is_good = std::find(good.begin(), good.end(), run.best().value_or(-1)) != good.end();
    const LoadedCheckpoint used = run.load(best_is_good ? *run.best() : good.back());
    name_pieces(run, is_imported(used), shown);
    metadata["shown_step"] = used.step();
    add_tensors(shown, used.model().tensors());
    if (!fingerprint.empty() && used.tokenizer() != fingerprint) {
      shown.warnings.push_back(fmt::format(
          "{}: the weights of step {} were trained with another tokenizer.json", shown.path, used.step()));
    }
    try {
      require_same_settings(settings, used);
    } catch (const Refusal& refusal) {  // what every command that uses the run says
      shown.warnings.emplace_back(refusal.what());
    }
  }
  shown.metadata = metadata.dump();
  return shown;
}

}  // namespace tril
