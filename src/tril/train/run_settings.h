// The settings of a run: its config.toml, read whole, and held to what its checkpoints were trained with. A
// file that was edited or cut, and a checkpoint that comes from another run, are refused by name. What it
// leaves out: the configuration of a run that is to be made (config.h).
#pragma once
#include <string>
#include <vector>

#include "tril/train/checkpoint.h"
#include "tril/train/settings.h"

namespace tril {

/// What a checkpoint keeps of a configuration; a value of more than 200 bytes by its SHA-256.
SettingsText settings_text(const Config& config);

struct RunSettingsFile {
  std::string path;
  Config config;
  std::vector<std::string> missing;  // full names of the settings that the file does not hold
};

/// Reads RUN/config.toml. A run's file holds every setting, so `preset` is a name in it and no more. Throws
/// Refusal with all faults.
RunSettingsFile read_run_settings(const std::string& path);

/// Refuses where the file holds not every setting: for a run without a checkpoint to hold it to.
void require_complete(const RunSettingsFile& file);

/// Refuses where the file's settings are not those that the checkpoint was trained with: which, both values,
/// what to do. A setting that neither of them holds is newer than the run, and has its default. May differ:
/// where the text lies (its SHA-256 is the checkpoint's `source`), run.threads, train.keep_checkpoints,
/// train.recompute, and train.steps, cooldown and minutes. Warns where the checkpoint is of a program that
/// kept none.
void require_same_settings(const RunSettingsFile& file, const LoadedCheckpoint& checkpoint);

}  // namespace tril
