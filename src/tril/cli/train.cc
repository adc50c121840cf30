// tril train: a model from a text, in a run folder.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/memory.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/plan.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/cli/summary.h"
#include "tril/train/loop.h"
#include "tril/train/run_data.h"
#include "tril/train/run_folder.h"
#include "tril/train/size_check.h"

namespace tril::cli {
namespace {

struct Asked {
  Request request;
  std::optional<std::string> out;
  bool dry_run = false;
};

int show_plan(Config config, const Common& common) {
  const Corpus corpus = read_text(config, nullptr);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  refuse_oversize(config, machine_memory());
  if (common.json)
    print_json(plan_json(config, corpus));
  else
    print(plan_text(config, corpus));
  return kExitDone;
}

int train(const Asked& asked, const Common& common) {
  const Resolved resolved = resolve_request(asked.request, common);
  refuse_oversize(resolved.config, machine_memory());
  config_to_toml(resolved.config);  // refuses what a run's files can't hold
  if (asked.dry_run) {
    asked.out ? RunFolder::require_new(*asked.out) : require_writable("runs");
    return show_plan(resolved.config, common);
  }
  RunFolder folder = asked.out ? RunFolder::create(*asked.out) : RunFolder::create_default(resolved.name);
  Ending ending(common.json);
  ending.print(train_run(folder, resolved.config, ending.options(folder)));
  return kExitDone;
}

}  // namespace

Action declare_train(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.optional_word("PRESET|CONFIG.toml|FILE.txt", asked->request.what,
                        "what to train (default: one-head-smoke; a text trains it on that text)");
  options.text("--data", "PATH|tales", asked->request.data, "the text, in place of the configuration's");
  options.text("--out", "RUN", asked->out, "the run's folder (default: runs/PRESET, runs/PRESET-2, ...)");
  settings_option(options, asked->request.settings);
  options.integer("--steps", asked->request.steps, 1, 1000000000, "updates of the weights");
  options.flag("--dry-run", asked->dry_run, "check and plan all of it, write nothing");
  options.remark(
      "Ctrl-C saves the work and exits 130; tril resume goes on to the same bits. tril presets lists "
      "presets,\n"
      "docs/configuration.md every setting.");
  return [asked](const Common& common) { return train(*asked, common); };
}

}  // namespace tril::cli
