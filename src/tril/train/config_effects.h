// Which settings count under which others: one table (config_effects.cc). A setting that a user gave and that
// changes nothing is refused; one that a preset brought along falls back to its default. What it leaves out:
// values that contradict each other (config_check.h).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tril/train/config_keys.h"

namespace tril {

/// A setting that counts under a condition alone.
struct Effect {
  std::string_view key;  // "train.momentum"
  bool (*counts)(const Config&);
  std::string_view needs;  // what must be set for it to count: "train.optimizer muon"
};

/// Every such setting but for the keys of [model] that whole families lack (ConfigKey::families).
std::span<const Effect> effects();

/// "has no effect in window_mlp", "has no effect without …"; "" where the setting counts.
std::string no_effect(const Config& config, const ConfigKey& key);

/// The configuration with every setting that does not count at its default.
Config without_idle_settings(const Config& config);

}  // namespace tril
