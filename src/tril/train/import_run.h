// A run made from a model that another program wrote: one checkpoint, step 0, which is best and last. What it
// leaves out: opening the model (formats/foreign_model.h) and training it further.
#pragma once
#include <optional>
#include <string>

#include "tril/formats/foreign_model.h"
#include "tril/train/run_folder.h"
#include "tril/train/settings.h"

namespace tril {

/// Makes the run at `path`: config.toml, generation_config.json, tokenizer.json and the checkpoint, all of it
/// or nothing. `foreign` has a tokenizer, `model` is what load_foreign_model gave for it. Throws Refusal,
/// before anything is written, where no command could read the configuration again, and what
/// RunFolder::create throws.
RunFolder write_imported_run(const std::string& path, const ForeignModel& foreign, const Model& model);

/// The configuration of such a run: the model's, and defaults for the rest.
Config imported_config(const ForeignModel& foreign, const Model& model);

/// True for the checkpoint of such a run.
bool is_imported(const LoadedCheckpoint& checkpoint);
/// Refuses what needs training state or a text of the run's own, with what can be done instead.
[[noreturn]] void refuse_imported(const std::string& run);
/// The same for a run with this newest checkpoint and these settings, where it was imported, or where its
/// import was killed.
void require_trained_here(const RunFolder& folder, const std::optional<LoadedCheckpoint>& newest,
                          const Config& config);

}  // namespace tril
