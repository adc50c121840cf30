#include "tril/train/loop.h"

#include <fmt/format.h>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <new>

#include "tril/base/clock.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/base/typed.h"
#include "tril/model/multiplies.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/base_model.h"
#include "tril/train/config.h"
#include "tril/train/frozen.h"
#include "tril/train/import_run.h"
#include "tril/train/loaded_run.h"
#include "tril/train/loop_notes.h"
#include "tril/train/more_steps.h"
#include "tril/train/profiled_step.h"
#include "tril/train/run_data.h"
#include "tril/train/run_settings.h"
#include "tril/train/size_check.h"
#include "tril/train/time_budget.h"

namespace tril {
namespace {

using Json = nlohmann::ordered_json;

class Clock {
 public:
  double seconds() const { return steady_seconds() - start_; }

 private:
  double start_ = steady_seconds();
};

Json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

// What state.json holds beside the checkpoint's own fields.
struct Progressed {
  int64_t tokens_seen = 0, best_step = 0;
  std::optional<double> best_loss;
  double train_seconds = 0, eval_seconds = 0;
  double spent_seconds = 0;  // of a time budget, by earlier programs
};

// One run from its first step, or from where it was left, to its last.
class Loop {
 public:
  Loop(RunFolder& folder, const Config& config, const Corpus& corpus, const LoopOptions& options,
       const BaseModel* base, double data_seconds)
      : folder_(folder),
        config_(config),
        corpus_(corpus),
        options_(options),
        trainer_(config, corpus, base, options.parallel),
        fingerprint_(corpus.tokenizer->fingerprint()),
        data_seconds_(data_seconds) {}

  void restore(const LoadedCheckpoint& checkpoint) {
    checkpoint.require_tokenizer(fingerprint_, "the run's text gives one that");
    const std::string where = checkpoint.folder() + "/state.json";
    const Json state = Json::parse(checkpoint.state());
    const auto field = [&](const char* name) -> const Json& {
      if (!state.contains(name)) refuse("{}: 'training' has no '{}'", where, name);
      return state[name];
    };
    const auto number = [&](const char* name) {
      if (!field(name).is_number()) refuse("{}: '{}' of 'training' is no number", where, name);
      return field(name).get<double>();
    };
    trainer_.restore(checkpoint, field("generators"));
    at_.tokens_seen = static_cast<int64_t>(number("tokens_seen"));
    at_.best_step = checkpoint.best_step();
    if (!field("best_loss").is_null()) at_.best_loss = number("best_loss");
    at_.train_seconds = number("train_seconds");
    at_.eval_seconds = number("eval_seconds");
    if (state.contains("spent_seconds")) at_.spent_seconds = number("spent_seconds");
    tell_platform(where, field("platform"), ranks());
  }

  Json run() {
    const interrupt::Guard guard;
    if (options_.begun) options_.begun();
    tell_trained(trainer_.model().parameters());
    if (config_.train.minutes > 0)
      budget_.emplace(config_.train.minutes, at_.spent_seconds, trainer_.steps_done());
    std::unique_ptr<Progress> progress = new_progress();
    {
      const interrupt::Postpone until_saved;
      while (trainer_.steps_done() < config_.train.steps) {
        one_step(*progress);
        if (interrupt::requested()) stop_early(*progress);
        if (settle_time()) progress = new_progress();
      }
    }
    progress->finish();
    tell_turn();
    try {
      return result();
    } catch (const Interrupted& interrupted) {  // every step is in a checkpoint; the result is made on resume
      throw Interrupted(interrupted.exit_code(), saved_text());
    }
  }

 private:
  int ranks() const { return options_.parallel != nullptr ? options_.parallel->count() : 1; }
  bool every(int64_t step, int64_t interval) const { return interval > 0 && step % interval == 0; }

  void one_step(Progress& progress) {
    const Clock clock;
    const StepResult done = next_step();
    at_.train_seconds += clock.seconds();
    at_.tokens_seen += done.targets;
    if (done.step == 1) tell_first_loss(config_, done.loss);

    const bool last = done.step == config_.train.steps;
    const bool evaluates = done.step == 1 || last || every(done.step, config_.train.eval_every);
    Json line = {{"step", done.step},
                 {"tokens_seen", at_.tokens_seen},
                 {"train_batch_loss", done.loss},
                 {"lr", done.learning_rate},
                 {"grad_norm", done.gradient_norm}};
    if (evaluates) {
      progress.phase("evaluation");
      line["validation_loss"] = number_or_null(evaluate(done.step));
    }
    line["seconds"] = at_.train_seconds;
    if (evaluates || every(done.step, config_.train.log_every)) folder_.append_metrics(line.dump());
    if (evaluates || every(done.step, config_.train.checkpoint_every)) {
      progress.phase("saving");
      save();
    }
    const std::string status = validation_
                                   ? fmt::format("loss {:.4f}  validation {:.4f}", done.loss, *validation_)
                                   : fmt::format("loss {:.4f}", done.loss);
    progress.update(done.step, status, static_cast<double>(at_.tokens_seen), "targets");
    if (options_.after_step) options_.after_step(done.step);
  }

  std::unique_ptr<Progress> new_progress() const {
    ProgressOptions shown;
    shown.start = trainer_.steps_done();
    return std::make_unique<Progress>("train", config_.train.minutes > 0 ? 0 : config_.train.steps, shown);
  }

  // train.minutes: when it is time, the number of steps is settled, and the run is one like any other.
  bool settle_time() {
    if (!budget_) return false;
    const std::optional<int64_t> left = budget_->steps_left(trainer_.steps_done(), closing_seconds());
    if (!left) return false;
    settle(config_.train, trainer_.steps_done(), *left);
    trainer_.set_schedule(config_.train);
    folder_.write("config.toml", config_to_toml(config_));
    log::note("{:.1f} s are spent; the run ends after {}, at step {}", budget_->spent(),
              counted(*left, "more step"), with_commas(config_.train.steps));
    budget_.reset();
    return true;
  }

  // How long the end will take: the usual evaluation, that over the whole validation part, a checkpoint.
  double closing_seconds() const {
    const int64_t all = corpus_.audit.parts[static_cast<size_t>(Part::kValidation)].targets;
    const int64_t some = config_.train.eval_examples > 0 ? std::min(all, config_.train.eval_examples) : all;
    return saving_seconds_ +
           (evaluated_ == 0 ? 0 : evaluation_seconds_ / double(evaluated_) * double(all + some));
  }

  // The fifth step is the one profiled: memory and caches are settled by then.
  StepResult next_step() {
    constexpr int64_t kSettled = 5;
    if (!options_.profile || trainer_.steps_done() + 1 != std::min(kSettled, config_.train.steps))
      return trainer_.step();
    const ProfiledStep profiled = profiled_step(trainer_);
    folder_.write("profile.json", profiled.trace);
    log::note("step {}'s dearest ops:\n{}the whole step: {} (open it in ui.perfetto.dev or chrome://tracing)",
              profiled.result.step, profiled.dearest, folder_.at("profile.json"));
    return profiled.result;
  }

  // The validation loss after this step; the best so far is the run's model. Without validation the last
  // state is.
  std::optional<double> evaluate(int64_t step) {
    const Clock clock;
    const std::optional<Evaluation> found =
        trainer_.evaluate(corpus_.validation(), config_.train.eval_examples);
    at_.eval_seconds += clock.seconds();
    evaluation_seconds_ += clock.seconds();
    evaluated_ += found ? found->targets : 0;
    validation_ = found ? std::optional<double>(found->loss()) : std::nullopt;
    const int64_t limit = config_.train.eval_examples;
    whole_ = limit == 0 || (found && found->targets < limit) ? found : std::nullopt;
    if (validation_ && !std::isfinite(*validation_))
      throw NonFinite(
          fmt::format("training stopped after step {}: the validation loss is {}, so the weights are broken "
                      "and are not saved. "
                      "Try a smaller train.learning_rate (it is {}) or train.clip",
                      step, *validation_, config_.train.learning_rate));
    if (!validation_ || !at_.best_loss || *validation_ < *at_.best_loss) {
      at_.best_step = step;
      at_.best_loss = validation_;
    }
    return validation_;
  }

  void save() {
    const Clock clock;
    Checkpoint checkpoint;
    trainer_.describe(checkpoint);
    checkpoint.best_step = validation_ || at_.best_loss ? at_.best_step : checkpoint.step;
    checkpoint.tokenizer = fingerprint_;
    checkpoint.settings = settings_text(config_);
    checkpoint.source = corpus_.source.sha256;
    Json state = {{"tokens_seen", at_.tokens_seen},      {"best_loss", number_or_null(at_.best_loss)},
                  {"train_seconds", at_.train_seconds},  {"eval_seconds", at_.eval_seconds},
                  {"generators", trainer_.generators()}, {"platform", platform(ranks())}};
    if (budget_) state["spent_seconds"] = budget_->spent();
    checkpoint.state = state.dump();
    folder_.save(checkpoint, config_.train.keep_checkpoints);
    saving_seconds_ = clock.seconds();
  }

  [[noreturn]] void stop_early(Progress& progress) {
    const int code = interrupt::exit_code();
    save();
    progress.finish();
    interrupt::clear();
    throw Interrupted(code, saved_text());
  }

  std::string saved_text() const {
    return fmt::format("interrupted after step {}; all work is saved. Go on with: {}{}",
                       trainer_.steps_done(), typed({"resume", folder_.path()}),
                       config_.data.path == "-" ? " (and the same text on standard input)" : "");
  }

  void tell_turn() const {
    if (!at_.best_loss || !validation_ || at_.best_step == trainer_.steps_done()) return;
    log::note(
        "validation loss was lowest at step {} ({:.4f}) and is {:.4f} now: the run's model is that of step "
        "{}",
        at_.best_step, *at_.best_loss, *validation_, at_.best_step);
  }

  // The best checkpoint's loss over the whole validation part: its model takes the place of the last, which
  // is in its own checkpoint. Other ranks keep the last one's weights.
  std::optional<Evaluation> whole_validation() {
    if (!at_.best_loss) return std::nullopt;
    const bool best_is_last = at_.best_step == trainer_.steps_done();
    if (whole_ && best_is_last) return whole_;
    const Clock clock;
    std::optional<Evaluation> whole;
    Progress progress("evaluation", corpus_.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
    if (!best_is_last) folder_.load(at_.best_step).copy_model_to(trainer_.model().parameters());
    if (best_is_last || options_.parallel == nullptr) {
      whole = trainer_.evaluate(corpus_.validation(), 0, &progress);
    } else {
      Tape tape(tape_options(config_.run, false));
      whole = tril::evaluate(trainer_.model(), tape, corpus_.validation(), 0, &progress);
    }
    at_.eval_seconds += clock.seconds();
    return whole;
  }

  Json counts(int64_t PartAudit::*what) const {
    Json out;
    for (Part part : {Part::kTrain, Part::kValidation, Part::kTest})
      out[std::string(part_name(part))] = corpus_.audit.parts[static_cast<size_t>(part)].*what;
    return out;
  }

  Json result() {
    const std::optional<Evaluation> whole = whole_validation();
    const double total = data_seconds_ + at_.train_seconds + at_.eval_seconds;
    Json out;
    out["run"] = folder_.path();
    out["parameters"] = trainer_.model().parameters().count();
    out["trained_parameters"] = trained_count(trainer_.model().parameters());
    out["documents"] = counts(&PartAudit::documents);
    out["targets"] = counts(&PartAudit::targets);
    out["vocab_size"] = config_.model.vocab_size;
    out["steps"] = trainer_.steps_done();
    out["selected_step"] = at_.best_loss ? at_.best_step : trainer_.steps_done();
    out["tokens_seen"] = at_.tokens_seen;
    out["validation_loss"] = number_or_null(whole ? std::optional(whole->loss()) : std::nullopt);
    out["validation_perplexity"] = number_or_null(whole ? std::optional(whole->perplexity()) : std::nullopt);
    out["seconds"] = {
        {"data", data_seconds_}, {"train", at_.train_seconds}, {"eval", at_.eval_seconds}, {"total", total}};
    out["tokens_per_second"] = number_or_null(
        at_.train_seconds > 0 ? std::optional(static_cast<double>(at_.tokens_seen) / at_.train_seconds)
                              : std::nullopt);
    out["peak_bytes"] = peak_memory();
    if (options_.parallel != nullptr) out["ranks"] = ranks_json(*options_.parallel, trainer_.sum_times());
    out["approximate_multiplies"] =
        training_multiplies(config_.model, config_.train.block) * static_cast<double>(at_.tokens_seen);
    out["trace"] = read_trace(folder_.at("metrics.jsonl"));
    if (config_.train.samples > 0 && options_.samples)
      out["samples"] = options_.samples(trainer_, *corpus_.tokenizer);
    if (options_.ended) options_.ended(config_, corpus_);
    folder_.write("result.json", out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return out;
  }

  RunFolder& folder_;
  Config config_;
  const Corpus& corpus_;
  const LoopOptions& options_;
  Trainer trainer_;
  std::string fingerprint_;
  double data_seconds_;
  Progressed at_;
  std::optional<TimeBudget> budget_;  // until its steps are settled
  double evaluation_seconds_ = 0;     // of this program
  int64_t evaluated_ = 0;             // targets in them
  double saving_seconds_ = 0;         // of the last checkpoint
  std::optional<double> validation_;  // of the last evaluation
  std::optional<Evaluation> whole_;   // the last evaluation, where it was over the whole validation part
};

// The files that describe the run, which a death right after config.toml may have left out.
void write_description(RunFolder& folder, const Corpus& corpus, const BaseModel* base) {
  if (base != nullptr && !folder.has(kGenerationConfig))
    folder.write(kGenerationConfig, generation_config_json(base->ends()).dump(2) + "\n");
  if (!folder.has("tokenizer.json")) folder.write("tokenizer.json", corpus.tokenizer->to_json());
  if (!folder.has("data.json")) folder.write("data.json", manifest_json(corpus).dump(2) + "\n");
}

std::shared_ptr<const Tokenizer> tokenizer_of(const BaseModel* base) {
  return base == nullptr ? nullptr : base->tokenizer();
}

void use_threads(const RunSettings& run) {
  if (run.threads > 0) set_threads(static_cast<int>(run.threads));
}

}  // namespace

Json train_run(RunFolder& folder, const Config& given, const LoopOptions& options) {
  const interrupt::Guard guard;
  use_threads(given.run);
  folder.write("config.toml", config_to_toml(given));
  const BaseModel* const base = options.base.get();
  assert((base == nullptr) == given.train.from.empty());
  std::shared_ptr<const Corpus> corpus = options.corpus;
  std::optional<Loop> loop;
  try {
    const Clock clock;
    if (corpus == nullptr) corpus = std::make_shared<const Corpus>(read_text(given, tokenizer_of(base)));
    Config config = given;
    config.model.vocab_size = corpus->tokenizer->vocab_size();
    refuse_oversize(config, machine_memory());
    if (options.plan) options.plan(config, *corpus);
    loop.emplace(folder, config, *corpus, options, base, clock.seconds());
    write_description(folder, *corpus, base);
  } catch (const Interrupted& interrupted) {
    folder.discard();
    throw Interrupted(interrupted.exit_code(), "interrupted before the first step; nothing is kept");
  } catch (...) {
    folder.discard();
    throw;
  }
  try {
    return loop->run();
  } catch (const std::bad_alloc&) {
    if (folder.steps().empty()) folder.discard();  // nothing is lost, and it would not fit again
    throw;
  }
}

namespace {

// The run's tokenizer, held to the checkpoint before any text is read with it; null where its file is gone.
std::shared_ptr<const Tokenizer> own_tokenizer(const RunFolder& folder,
                                               const std::optional<LoadedCheckpoint>& checkpoint) {
  const std::string path = folder.at("tokenizer.json");
  if (surely_missing(path)) return nullptr;
  auto tokenizer = load_tokenizer(path);
  if (checkpoint) checkpoint->require_tokenizer(tokenizer->fingerprint(), path);
  return tokenizer;
}

}  // namespace

Resumed resume_run(RunFolder& folder, std::optional<int64_t> steps, const RunSettings& overrides,
                   const LoopOptions& options) {
  const interrupt::Guard guard;
  const RunSettingsFile settings = read_run_settings(folder.at("config.toml"));
  const std::optional<LoadedCheckpoint> checkpoint = folder.find_last();
  require_trained_here(folder, checkpoint, settings.config);
  if (checkpoint)
    require_same_settings(settings, *checkpoint);
  else
    require_complete(settings);
  Config config = settings.config;
  if (steps) use_steps(config, *steps, folder, checkpoint ? checkpoint->step() : 0);
  const Config lasting = config;  // what config.toml is to say: the number of threads is this call's
  if (overrides.threads > 0) config.run.threads = overrides.threads;
  use_threads(config.run);
  std::shared_ptr<const Tokenizer> tokenizer = own_tokenizer(folder, checkpoint);
  if (checkpoint && checkpoint->step() >= config.train.steps && tokenizer &&
      has_manifest(folder.at("data.json"), checkpoint->source())) {
    if (auto result = read_result(folder.at("result.json"), checkpoint->step())) {
      folder.go_on_from(checkpoint);
      log::note("{}: the run is finished ({}); go further with --steps N", folder.path(),
                counted(checkpoint->step(), "step"));
      (*result)["run"] = folder.path();  // it may have been moved
      return {std::move(*result), true};
    }
  }
  // What the run went on from is needed as long as nothing of its own holds it.
  std::shared_ptr<const BaseModel> base;
  if (!config.train.from.empty() && (!checkpoint || !tokenizer)) {
    base = BaseModel::open(config.train.from);
    base->require_of(config);
    tokenizer = base->tokenizer();
  }
  const Clock clock;
  const Corpus corpus =
      read_run_text(folder.path(), config, tokenizer, checkpoint ? checkpoint->source() : "");
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  refuse_oversize(config, machine_memory());
  if (options.plan) options.plan(config, corpus);
  Loop loop(folder, config, corpus, options, base.get(), clock.seconds());
  if (checkpoint) loop.restore(*checkpoint);
  // From here on nothing is refused, and the run is changed.
  folder.go_on_from(checkpoint);
  if (steps) folder.write("config.toml", config_to_toml(lasting));
  write_description(folder, corpus, base.get());
  if (checkpoint) {
    tell_new_steps(config, *checkpoint);
    log::note("{}: goes on after step {}", folder.path(), checkpoint->step());
  } else {
    log::note("{}: has no checkpoint yet and begins at its start", folder.path());
  }
  return {loop.run(), false};
}

}  // namespace tril
