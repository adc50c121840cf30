// tril presets: the presets with their sizes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/model/parameter_count.h"
#include "tril/train/config.h"

namespace tril::cli {
namespace {

int list_presets(const Common& common) {
  Table table(
      {"preset", "family", "context", "width", "heads", "layers", "vocabulary", "parameters", "training"});
  auto all = nlohmann::ordered_json::array();
  for (const std::string& name : preset_names()) {
    const Config config = resolve(preset_config(name));
    ModelConfig model = config.model;
    model.vocab_size = nominal_vocabulary(name);
    const int64_t parameters = parameter_count(model);
    table.row({name, model.family, with_commas(model.context), with_commas(model.d_model),
               with_commas(model.heads), with_commas(model.layers), with_commas(model.vocab_size),
               with_commas(parameters),
               fmt::format("{} x {}", counted(config.train.steps, "step"), with_commas(config.train.batch))});
    all.push_back({{"name", name},
                   {"about", preset_about(name)},
                   {"family", model.family},
                   {"context", model.context},
                   {"d_model", model.d_model},
                   {"heads", model.heads},
                   {"layers", model.layers},
                   {"vocabulary", model.vocab_size},
                   {"parameters", parameters},
                   {"tokenizer", config.data.tokenizer},
                   {"steps", config.train.steps},
                   {"batch", config.train.batch},
                   {"seed", config.train.seed}});
  }
  if (common.json) {
    print_json({{"presets", all}});
    return kExitDone;
  }
  print(table.text());
  print("\n");
  for (const std::string& name : preset_names()) print(fmt::format("{:<20}{}\n", name, preset_about(name)));
  print(fmt::format("\n{} PRESET prints the settings of one; {} PRESET trains it.\n", typed({"config"}),
                    typed({"train"})));
  return kExitDone;
}

}  // namespace

Action declare_presets(Options&) {
  return list_presets;
}

}  // namespace tril::cli
