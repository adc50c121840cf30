// From the words of a training command to a configuration.
#include "tril/cli/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/typed.h"
#include "tril/formats/peft.h"

namespace tril::cli {
namespace {

constexpr const char* kDefaultPreset = "one-head-smoke";

bool has_ending(const std::string& path, std::string_view ending) {
  return path.size() > ending.size() && std::string_view(path).substr(path.size() - ending.size()) == ending;
}

std::string stem_of(const std::string& path) {
  const std::string stem = std::filesystem::path(path).lexically_normal().stem().string();
  return stem.empty() || stem == "." || stem == "-" ? kDefaultPreset : stem;
}

bool is_preset(const std::string& word) {
  const std::vector<std::string> presets = preset_names();
  return std::find(presets.begin(), presets.end(), word) != presets.end();
}

bool is_configuration(const std::string& word) {
  return has_ending(word, ".toml") || has_ending(word, ".json");
}

void require_text(const std::string& word) {
  std::error_code ignored;
  if (!std::filesystem::exists(word, ignored))
    refuse("there is no preset and no file {}{}; {} lists them", in_quotes(word),
           nearest_hint(word, preset_names()), typed({"presets"}));
}

// Adds what the word stands for; returns the name of the default run.
std::string take_word(ConfigBuilder& builder, const std::string& word) {
  if (is_preset(word)) {
    builder.add_preset(word);
    return word;
  }
  if (is_configuration(word)) {
    builder.add_file(word);
    return std::filesystem::path(word).stem().string();
  }
  require_text(word);
  builder.add_preset(kDefaultPreset);
  use_data(builder, word);
  return stem_of(word);
}

std::string whole_path(const std::string& path) {
  std::string whole = std::filesystem::absolute(path).lexically_normal().string();
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

// Opens the model that training goes on from, and takes the word and the defaults that go with it.
void take_base(ConfigBuilder& builder, const Request& request, Resolved& resolved) {
  const std::string given = *request.base(), path = given.empty() ? "" : whole_path(given);
  resolved.base = BaseModel::open(path);
  if (request.what && (is_preset(*request.what) || is_configuration(*request.what))) {
    resolved.name = take_word(builder, *request.what);
  } else {
    if (request.what) require_text(*request.what);
    builder.add_defaults(fine_tuning_defaults(*resolved.base), "--from");
    if (request.what) use_data(builder, *request.what);
    resolved.name = stem_of(path) + "-tuned";
  }
  if (request.from) builder.set_flag("--from", "train.from", path);
}

// Where lora.adapter names a folder, its rank, alpha and targets are those of the run.
void fix_adapter(ConfigBuilder& builder, const BaseModel& base) {
  const std::string path = builder.values().model.lora.adapter;
  if (path.empty()) return;
  Config adapted;
  const PeftAdapter adapter(path);
  adapted.model.lora = adapter.settings(base.config());
  for (const ConfigKey& key : config_keys())
    if (key.section == "lora" && key.name != "adapter")
      builder.fix(adapter.settings_path(), key, get_value(adapted, key));
}

}  // namespace

std::optional<std::string> Request::base() const {
  constexpr std::string_view kSetting = "train.from=";
  if (from) return from;
  for (const std::string& setting : settings) {
    if (!setting.starts_with(kSetting)) continue;
    std::string path = setting.substr(kSetting.size());
    if (path.size() >= 2 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
    if (!path.empty()) return path;
  }
  return std::nullopt;
}

bool Request::dialled() const {
  return minutes && !base() && (!what || (!is_preset(*what) && !is_configuration(*what)));
}

void use_data(ConfigBuilder& builder, const std::string& path) {
  const bool special = path == "tales" || path == "-";
  if (path.empty()) refuse("--data needs a path, or tales");
  builder.imply("--data", "data.text", "");
  builder.imply("--data", "data.repeat", "1");
  builder.set_flag("--data", "data.path",
                   special ? path : std::filesystem::absolute(path).lexically_normal().string());
}

void use_common(ConfigBuilder& builder, const Common& common) {
  if (common.seed) builder.set_flag("--seed", "train.seed", std::to_string(*common.seed));
  if (common.engine) builder.set_flag("--engine", "run.engine", *common.engine);
  if (common.dtype)
    builder.set_flag("--dtype", "run.dtype", *common.dtype);
  else if (common.engine == "fast")
    builder.imply("--engine", "run.dtype", "f32");
  if (common.threads) builder.set_flag("--threads", "run.threads", std::to_string(*common.threads));
}

void settings_option(Options& options, std::vector<std::string>& settings, std::string about) {
  options.texts("--set", "section.key=value", settings, std::move(about));
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) names.push_back(key.full_name());
  options.settings("--set", std::move(names));
}

Resolved resolve_request(const Request& request, const Common& common, const std::string& choices) {
  if (request.minutes && request.steps) refuse("--minutes and --steps both say when to end; give one");
  ConfigBuilder builder;
  Resolved resolved;
  if (request.base()) {
    take_base(builder, request, resolved);
  } else if (request.dialled()) {
    builder.add_preset("shakespeare-char");
    builder.add_toml(choices, "--minutes");
    if (request.what) require_text(*request.what);
    if (request.what) use_data(builder, *request.what);
    resolved.name = stem_of(request.what.value_or(request.data.value_or("tales")));
  } else if (request.what) {
    resolved.name = take_word(builder, *request.what);
  } else {
    builder.add_preset(kDefaultPreset);
    resolved.name = kDefaultPreset;
  }
  if (request.data) use_data(builder, *request.data);
  for (const std::string& setting : request.settings) builder.set(setting);
  if (request.minutes && !request.dialled()) {
    builder.set_flag("--minutes", "train.minutes", fmt::format("{}", *request.minutes));
    builder.set_flag("--minutes", "train.schedule", "trapezoid");
    builder.set_flag("--minutes", "train.steps", "1000000000");
  }
  if (request.steps) builder.set_flag("--steps", "train.steps", std::to_string(*request.steps));
  use_common(builder, common);
  if (const std::string& from = builder.values().train.from; !from.empty()) {
    if (resolved.base == nullptr) resolved.base = BaseModel::open(whole_path(from));
    resolved.base->fix(builder);
    fix_adapter(builder, *resolved.base);
  }
  resolved.config = builder.finish();
  // A run is resumed from any folder.
  for (std::string* path : {&resolved.config.train.from, &resolved.config.model.lora.adapter})
    if (!path->empty()) *path = whole_path(*path);
  return resolved;
}

}  // namespace tril::cli
