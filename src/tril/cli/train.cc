// tril train: a model from a text, in a run folder.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"
#include "tril/base/threads.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/plan.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/cli/summary.h"
#include "tril/cli/together.h"
#include "tril/generate/samples.h"
#include "tril/plan/dial.h"
#include "tril/train/loop.h"
#include "tril/train/run_data.h"
#include "tril/train/run_folder.h"
#include "tril/train/size_check.h"

namespace tril::cli {
namespace {

struct Asked {
  Request request;
  std::optional<std::string> out;
  bool dry_run = false, profile = false;
};

int show_plan(const Resolved& resolved, std::shared_ptr<const Corpus> corpus, const std::string& folder,
              const Common& common) {
  Config config = resolved.config;
  if (config.run.threads > 0) set_threads(static_cast<int>(config.run.threads));
  if (corpus == nullptr)
    corpus = std::make_shared<const Corpus>(
        read_text(config, resolved.base == nullptr ? nullptr : resolved.base->tokenizer()));
  config.model.vocab_size = corpus->tokenizer->vocab_size();
  refuse_oversize(config, machine_memory());
  const nlohmann::ordered_json plan = plan_json(
      config, *corpus,
      {resolved.base, folder, [&](Trainer& trainer) { training_samples(trainer, *corpus->tokenizer); }});
  if (common.json)
    print_json(plan);
  else
    print(plan_text(config, *corpus, plan));
  return kExitDone;
}

// The configuration, and for a dialled one the text that was read to choose it.
Resolved chosen(const Asked& asked, const Common& common, int ranks, std::shared_ptr<const Corpus>& corpus) {
  Resolved resolved = resolve_request(asked.request, common);
  if (!asked.request.dialled()) return resolved;
  const auto make = [&](const std::string& choices) {
    return resolve_request(asked.request, common, choices).config;
  };
  if (resolved.config.run.threads > 0) set_threads(static_cast<int>(resolved.config.run.threads));
  Dialled dialled = dial(make, *asked.request.minutes, ranks);
  for (const std::string& line : dialled.why) log::note_line(line);
  resolved.config = std::move(dialled.config);
  corpus = std::move(dialled.corpus);
  return resolved;
}

int lead(const Asked& asked, const Common& common, Parallel* parallel) {
  std::shared_ptr<const Corpus> corpus;
  const Resolved resolved = chosen(asked, common, parallel != nullptr ? parallel->count() : 1, corpus);
  refuse_oversize(resolved.config, machine_memory());
  config_to_toml(resolved.config);  // refuses what a run's files can't hold
  if (parallel != nullptr) Parallel::require_shareable(resolved.config, parallel->count());
  RunFolder folder = asked.out ? RunFolder::create(*asked.out) : RunFolder::create_default(resolved.name);
  if (asked.dry_run)  // the folder goes again
    return show_plan(resolved, std::move(corpus), folder.path(), common);
  Ending ending(common.json);
  LoopOptions loop = ending.options(folder);
  loop.profile = asked.profile;
  loop.corpus = std::move(corpus);
  loop.base = resolved.base;
  if (parallel != nullptr)
    train_together(parallel, asked_text(resolve_request(asked.request, common).config), loop);
  ending.print(train_run(folder, resolved.config, loop));
  return kExitDone;
}

int train(const Asked& asked, const Common& common) {
  return together(
      common, [&] { return resolve_request(asked.request, common).config; },
      [&](Parallel* parallel) { return lead(asked, common, parallel); });
}

}  // namespace

Action declare_train(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.optional_word("PRESET|CONFIG.toml|FILE.txt", asked->request.what,
                        "what to train (default: one-head-smoke; a text trains it on that text)");
  options.text("--data", "PATH|tales", asked->request.data, "the text, in place of the configuration's");
  options.text("--from", "RUN|FOLDER|FILE", asked->request.from,
               "go on from these weights and their tokenizer: a run, a Hugging Face folder, a .gguf");
  options.text("--out", "RUN", asked->out, "the run's folder (default: runs/PRESET, runs/PRESET-2, ...)");
  settings_option(options, asked->request.settings);
  options.integer("--steps", asked->request.steps, 1, 1000000000, "updates of the weights");
  options.real("--minutes", asked->request.minutes, 0, 100000,
               "time for the whole command; without a preset it chooses the model, too",
               Options::Ends::above_low);
  options.flag("--dry-run", asked->dry_run, "check all of it, plan its memory and time, write nothing");
  options.flag(
      "--profile", asked->profile,
      "write RUN/profile.json, a trace of one step for Perfetto or Chrome, and show its dearest ops");
  options.remark(
      "Ctrl-C saves the work and exits 130; tril resume goes on to the same bits. tril presets lists "
      "presets,\n"
      "docs/configuration.md every setting.");
  return [asked](const Common& common) { return train(*asked, common); };
}

}  // namespace tril::cli
