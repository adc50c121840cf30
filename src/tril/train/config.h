// Configurations: from presets, TOML files and --set to one resolved Config, and back to TOML. All faults are
// gathered and told at once. What it leaves out: any other file format, and expressions or code in settings.
#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/train/config_keys.h"
#include "tril/train/settings.h"

namespace tril {

/// Gathers a configuration from its sources, later ones over earlier ones, and every fault in them.
///   ConfigBuilder builder; builder.add_file("my.toml"); builder.set("train.steps=5"); Config c =
///   builder.finish();
class ConfigBuilder {
 public:
  /// Takes an embedded preset. Throws Refusal with the nearest name at once where there is none of that name.
  void add_preset(std::string_view name);
  /// Settings that stand until a preset, file or flag says otherwise.
  void add_defaults(std::string_view text, const std::string& source);
  /// Reads a TOML file. Throws Refusal at once where it can't be read or isn't TOML at all; other faults
  /// wait.
  void add_file(const std::string& path);
  /// Reads the config.toml of a run. It holds every setting, so its preset is a name and gives no values.
  void add_run_file(const std::string& path);
  /// The same as add_file with the text at hand; `source` names it in messages.
  void add_toml(std::string_view text, const std::string& source);
  /// "section.key=value", as --set takes it. A value needs no quotes: the table knows its type. A key that
  /// set() or set_flag() gave before is a fault that names both.
  void set(std::string_view assignment);
  /// One key by a flag of its own: set_flag("--steps", "train.steps", "500").
  void set_flag(std::string_view flag, std::string_view full_name, std::string_view text);
  /// What a flag says by the way ("--data PATH" empties data.text): over files, under set() and set_flag().
  void imply(std::string_view flag, std::string_view full_name, std::string_view text);

  /// A setting that `source` (the model that training starts from) decides: what a file or flag says
  /// otherwise is a fault, what a preset says falls back. An integer 0 that stands for a default says
  /// nothing. A value that the key can't have is a fault of the source's.
  void fix(const std::string& source, const ConfigKey& key, const Value& value);

  /// What was gathered so far, unresolved: 0 still means "the default of the family".
  const Config& values() const { return config_; }
  /// Full names of the settings that no source has given.
  std::vector<std::string> missing() const;
  /// Throws Refusal with every fault, a line each, where there is one; the first 20 and how many more.
  void refuse_faults() const;
  /// Checks what concerns several keys, then refuse_faults(), then resolve().
  Config finish();

 private:
  struct Origin {
    std::string source;
    long line = 0;           // 0: none
    bool inherited = false;  // from a preset or a recipe
    bool typed = false;      // on the command line
  };
  struct Fault {
    std::string source;
    long line = 0;
    std::string text;
  };
  friend class TomlReader;
  void fit_warmup();
  void apply_recipe();
  void add_parsed(std::string_view text, const std::string& source, bool of_run);
  void fault(const std::string& source, long line, std::string text);
  void store(const ConfigKey& key, const Value& value, Origin origin);
  void assign(const Origin& origin, std::string_view full_name, std::string_view text);

  Config config_;
  std::map<std::string, Origin, std::less<>> origins_;
  std::vector<Fault> faults_;
  int depth_ = 0;        // of presets that inherit
  bool of_run_ = false;  // a run's config.toml has every setting: its recipe is a name
};

/// Names of the presets that are embedded in the program, in the order of the design's table.
std::vector<std::string> preset_names();
/// Its TOML text. Throws Refusal with the nearest name.
std::string_view preset_text(std::string_view name);
/// Names of the embedded recipes, sorted.
std::vector<std::string> recipe_names();
/// A recipe's settings as TOML. Throws Refusal with the nearest name.
std::string_view recipe_text(std::string_view name);
/// The first comment of a preset's file, as one line.
std::string preset_about(std::string_view name);
/// A preset, unresolved. Throws Refusal with the nearest name.
Config preset_config(std::string_view name);
/// The vocabulary that a preset is described with: its cap, or that of the text it is meant for (65 for
/// Shakespeare).
int64_t nominal_vocabulary(std::string_view preset);

/// Replaces every "0 = default" by its value and unused keys of [model] by their defaults. Idempotent.
Config resolve(Config config);

/// A setting's value as config_to_toml writes it: 300, 0.003, true, "word".
std::string value_to_toml(const Value& value);
/// Every setting as TOML with a comment each; add_toml() of it gives the same Config. Deterministic.
/// Throws Refusal where a text is not UTF-8, which TOML can't hold.
std::string config_to_toml(const Config& config);

/// docs/configuration.md, from the table.
std::string configuration_page();

}  // namespace tril
