// loop: a whole training run in its folder: data, steps, evaluations, checkpoints, progress, result. It can
// be stopped at any moment and goes on to the same bits. What it leaves out: the command line and the chart
// (cli/train.cc).
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tril/base/interrupt.h"
#include "tril/train/run_folder.h"
#include "tril/train/trainer.h"

namespace tril {

struct LoopOptions {
  /// Texts that a finished run is asked for (train.samples), made by a room further down.
  std::function<std::vector<std::string>(Trainer&, const Tokenizer&)> samples;
  /// Called once, when nothing is left that could refuse the run and before its first step.
  std::function<void()> begun;
  /// Called when a run ends, with the text that it was trained on.
  std::function<void(const Config&, const Corpus&)> ended;
  /// Writes a profile of one step into the run folder, and says which ops were dearest.
  bool profile = false;
  /// The text of the run, where it is read already; null: it is read.
  std::shared_ptr<const Corpus> corpus;
  /// What a new run's train.from names, opened already.
  std::shared_ptr<const BaseModel> base;
  /// Called with the whole configuration and its text before any weight is made; may refuse the run.
  std::function<void(const Config& config, const Corpus& corpus)> plan;
  /// The ranks that train together, of which this is the first; null: this process alone.
  Parallel* parallel = nullptr;
  /// For tests: called after each step.
  std::function<void(int64_t step)> after_step;
};

/// Trains a new run in `folder`, config.toml first, and returns result.json's document (design, section 7).
/// Throws Refusal and Interrupted (the folder is discarded where nothing was trained, all work is saved where
/// something was), NonFinite (checkpoints stay).
nlohmann::ordered_json train_run(RunFolder& folder, const Config& config, const LoopOptions& options = {});

/// Goes on with a run; `steps` extends or shortens it. A finished run gives its result back, with `finished`
/// set.
struct Resumed {
  nlohmann::ordered_json result;
  bool finished = false;  // there was nothing to do
};
Resumed resume_run(RunFolder& folder, std::optional<int64_t> steps, const RunSettings& overrides,
                   const LoopOptions& options = {});

}  // namespace tril
