// What a training command asks for, from its words to a configuration: a preset, a file of settings or a
// text, and the options over it. What it leaves out: training itself.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tril/cli/commands.h"
#include "tril/train/base_model.h"
#include "tril/train/config.h"

namespace tril::cli {

/// --data PATH|tales: the source of the configuration is replaced. Paths become absolute, so that a run can
/// be resumed from any folder; "-" (standard input) and "tales" stay.
void use_data(ConfigBuilder& builder, const std::string& path);

/// The common options over a configuration: --seed, --engine, --dtype, --threads. --engine fast alone implies
/// f32.
void use_common(ConfigBuilder& builder, const Common& common);

/// --set section.key=value, any number of times; an unknown option near a setting is told about it.
void settings_option(Options& options, std::vector<std::string>& settings,
                     std::string about = "replace one setting");

struct Request {
  std::optional<std::string> what, data;  // PRESET|CONFIG.toml|FILE.txt; --data
  std::optional<std::string> from;        // --from
  std::vector<std::string> settings;      // --set, in order
  std::optional<int64_t> steps;
  std::optional<double> minutes;
  /// The model that training goes on from: what --from names, else --set train.from=…; absent where neither
  /// does.
  std::optional<std::string> base() const;
  /// The dial chooses the model: a time is given, and no base, preset or configuration.
  bool dialled() const;
};

struct Resolved {
  Config config;     // resolved and checked
  std::string name;  // of the default run folder: the preset's, or the file's without its ending
  std::shared_ptr<const BaseModel> base;  // what train.from names; null for a model from scratch
};

/// Takes the word for a preset, else for a .toml file, else for a text to train one-head-smoke on. Throws
/// Refusal with every fault, and for a word that is none of them. With a base, a text is trained on over
/// fine_tuning_defaults().
/// A dialled request's `choices` stand in the place of the preset, as TOML.
Resolved resolve_request(const Request& request, const Common& common, const std::string& choices = "");

}  // namespace tril::cli
