// tril config PRESET: every setting of a preset, as the TOML file that one would edit.
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/request.h"
#include "tril/train/config.h"
#include "tril/train/config_effects.h"

namespace tril::cli {
namespace {

nlohmann::ordered_json to_json(const Config& config) {
  nlohmann::ordered_json all = {{"preset", config.preset}};
  for (const ConfigKey& key : config_keys())
    std::visit([&](const auto& value) { all[key.section][key.name] = value; }, get_value(config, key));
  return all;
}

}  // namespace

Action declare_config(Options& options) {
  auto preset = std::make_shared<std::string>();
  auto settings = std::make_shared<std::vector<std::string>>();
  options.word("PRESET", *preset, "a name that tril presets lists");
  settings_option(options, *settings);
  options.remark(
      "A 0 stands for \"the default\" where the comment says so. Save it as my.toml and train it with: tril "
      "train my.toml");
  return [=](const Common& common) {
    ConfigBuilder builder;
    builder.add_preset(*preset);
    for (const std::string& setting : *settings) builder.set(setting);
    if (common.seed) builder.set_flag("--seed", "train.seed", std::to_string(*common.seed));
    builder.finish();  // for its checks; what is printed keeps "0 = the default", so that it can be edited
    const Config shown = without_idle_settings(builder.values());
    if (common.json)
      print_json(to_json(shown));
    else
      print(config_to_toml(shown));
    return kExitDone;
  };
}

}  // namespace tril::cli
