#include "tril/train/import_run.h"

#include <cassert>
#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/interrupt.h"
#include "tril/base/typed.h"
#include "tril/train/config.h"
#include "tril/train/loaded_run.h"
#include "tril/train/run_settings.h"

namespace tril {
namespace {

constexpr const char* kOrigin = "imported_from";  // in the checkpoint's state

// Foreign files may hold sizes and settings that a run's config.toml may not.
void require_readable(const Config& config, const std::string& path) {
  try {
    ConfigBuilder builder;
    builder.add_toml(config_to_toml(config), "config.toml");
    builder.finish();
  } catch (const Refusal& refusal) {
    refuse("{}: no run can hold this model's settings:\n{}", path, refusal.what());
  }
}

void write_all(RunFolder& run, const ForeignModel& foreign, const Config& config, const Model& model) {
  run.write(kGenerationConfig, generation_config_json(foreign.ends).dump(2) + "\n");
  run.write("tokenizer.json", foreign.tokenizer->to_json());
  Checkpoint checkpoint;
  checkpoint.tokenizer = foreign.tokenizer->fingerprint();
  checkpoint.settings = settings_text(config);
  for (int i = 0; i < model.parameters().size(); ++i)
    checkpoint.model.push_back(stored(model.parameters().info(i).name, model.parameters().value(i)));
  checkpoint.state = nlohmann::ordered_json{{kOrigin, foreign.path},
                                            {"architecture", std::string(architecture_of(foreign.layout))},
                                            {"version", program_version()}}
                         .dump();
  run.save(checkpoint);
  run.write("config.toml", config_to_toml(config));  // last: without it a folder is no run
}

}  // namespace

Config imported_config(const ForeignModel& foreign, const Model& model) {
  Config config;
  config.model = model.config();
  config.data.tokenizer = foreign.tokenizer->kind();
  config.data.split = "auto";
  config.train.optimizer = "adamw";
  config.train.learning_rate = 1e-4;
  config.train.batch = 4;
  config.train.decay = "matrices";
  config.train.clip = 1;
  return resolve(config);
}

RunFolder write_imported_run(const std::string& path, const ForeignModel& foreign, const Model& model) {
  assert(foreign.tokenizer != nullptr);
  const Config config = imported_config(foreign, model);
  require_readable(config, foreign.path);
  RunFolder run = RunFolder::create(path);
  try {
    write_all(run, foreign, config, model);
  } catch (...) {
    const interrupt::Postpone until_removed;
    remove_path(run.at("checkpoints"));  // the save may have failed after its checkpoint was in place
    run.discard();
    throw;
  }
  return run;
}

bool is_imported(const LoadedCheckpoint& checkpoint) {
  return nlohmann::json::parse(checkpoint.state()).contains(kOrigin);
}

void refuse_imported(const std::string& run) {
  refuse(
      "{}: was imported, so it has no training state and no text of its own: there is nothing to resume; "
      "train from it with: {} --data PATH; its loss over a text is told by: {} --data PATH",
      run, typed({"train", "--from", run}), typed({"eval", run}));
}

void require_trained_here(const RunFolder& folder, const std::optional<LoadedCheckpoint>& newest,
                          const Config& config) {
  if (newest && is_imported(*newest)) refuse_imported(folder.path());
  if (!newest && folder.has(kGenerationConfig) && config.train.from.empty())
    refuse("{}: its import was broken off; remove it, and import the model again", folder.path());
}

}  // namespace tril
