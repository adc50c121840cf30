// A run made from a model that another program wrote: one checkpoint, step 0, which is best and last. What it
// leaves out: opening the model (formats/foreign_model.h) and training it further.
#pragma once
#include "tril/formats/foreign_model.h"
#include "tril/train/run_folder.h"
#include "tril/train/settings.h"

namespace tril {

/// Writes config.toml, tokenizer.json, generation_config.json and the checkpoint into a run that was just
/// created. `model` is what load_foreign_model gave for it. Throws Refusal where the model has no tokenizer.
void write_imported_run(RunFolder& run, const ForeignModel& foreign, const Model& model);

/// The configuration of such a run: the model's, and defaults for the rest.
Config imported_config(const ForeignModel& foreign, const Model& model);

}  // namespace tril
