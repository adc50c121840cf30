#include "tril/train/run_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tril/base/error.h"
#include "tril/base/hash.h"
#include "tril/base/log.h"
#include "tril/train/config.h"

namespace tril {
namespace {

constexpr size_t kNamed = 3;  // so many differences are told one by one

// None of them changes what the checkpoint is: the text is held by its SHA-256, any number of threads gives
// the same bits, as running blocks again does, resume tells a new number of steps, and a time budget settles
// its steps and their fall when it has come to them.
constexpr std::array<std::string_view, 9> kFree = {
    "data.path",   "data.text",      "data.repeat",   "run.threads",    "train.keep_checkpoints",
    "train.steps", "train.cooldown", "train.minutes", "train.recompute"};

bool is_free(std::string_view name) {
  return std::find(kFree.begin(), kFree.end(), name) != kFree.end();
}

// The first few, and how many more there are.
std::string few(const std::vector<std::string>& all) {
  const size_t shown = std::min(all.size(), kNamed);
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + static_cast<long>(shown), ", "));
  if (all.size() > shown) text += fmt::format(" and {} more", all.size() - shown);
  return text;
}

// A value as it stands in the file, cut where it is long.
std::string shown(const std::string& value) {
  return value.size() <= 40 ? value : value.substr(0, 37) + "...";
}

// One sentence for each setting that differs.
std::vector<std::string> differences(const RunSettingsFile& file, const SettingsText& there) {
  SettingsText here = settings_text(file.config);
  for (const std::string& name : file.missing) here.erase(name);
  const SettingsText defaults = settings_text(resolve(Config()));
  std::vector<std::string> all;
  for (const auto& [name, value] : there) {
    const auto found = here.find(name);
    if (found == here.end())
      all.push_back(fmt::format("{} is missing, it was {}", name, shown(value)));
    else if (found->second != value && !is_free(name))
      all.push_back(fmt::format("{} is {}, it was {}", name, shown(found->second), shown(value)));
  }
  for (const auto& [name, value] : here)
    if (there.count(name) == 0 && value != defaults.at(name))
      all.push_back(fmt::format("{} is {}, the run was trained without it", name, shown(value)));
  return all;
}

}  // namespace

SettingsText settings_text(const Config& config) {
  constexpr size_t kLong = 200;  // bytes; an inline text can have a million
  SettingsText all;
  for (const ConfigKey& key : config_keys()) {
    const std::string value = value_to_toml(get_value(config, key));
    all[key.full_name()] = value.size() <= kLong ? value : "sha256:" + sha256_hex(value);
  }
  return all;
}

RunSettingsFile read_run_settings(const std::string& path) {
  ConfigBuilder builder;
  builder.add_run_file(path);
  RunSettingsFile file{path, builder.finish(), {}};
  file.missing = builder.missing();
  return file;
}

void require_complete(const RunSettingsFile& file) {
  if (file.missing.empty()) return;
  refuse(
      "{}: lacks {}; a run's file holds every setting, so it was cut or edited, or another version of tril "
      "made "
      "it; put back what is missing, or train a new run",
      file.path, few(file.missing));
}

void require_same_settings(const RunSettingsFile& file, const LoadedCheckpoint& checkpoint) {
  if (checkpoint.settings().empty()) {
    require_complete(file);
    log::warn(
        "{}: an older version of tril made it and kept no settings with it, so {} can't be held to them",
        checkpoint.folder(), file.path);
    return;
  }
  const std::vector<std::string> all = differences(file, checkpoint.settings());
  if (all.empty()) return;
  refuse(
      "{}: is not what {} was trained with: {}; put the file back as it was, or use the run that the "
      "checkpoint "
      "belongs to",
      file.path, checkpoint.folder(), few(all));
}

}  // namespace tril
