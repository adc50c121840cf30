#include "tril/train/import_run.h"

#include <cassert>
#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/train/config.h"
#include "tril/train/run_settings.h"

namespace tril {

Config imported_config(const ForeignModel& foreign, const Model& model) {
  Config config;
  config.model = model.config();
  config.data.tokenizer = foreign.tokenizer->kind();
  config.data.split = "auto";
  config.train.optimizer = "adamw";
  config.train.learning_rate = 1e-4;
  config.train.batch = 4;
  config.train.decay = "matrices";
  config.train.clip = 1;
  return resolve(config);
}

void write_imported_run(RunFolder& run, const ForeignModel& foreign, const Model& model) {
  assert(foreign.tokenizer != nullptr);
  const Config config = imported_config(foreign, model);
  run.write("config.toml", config_to_toml(config));
  run.write("tokenizer.json", foreign.tokenizer->to_json());
  run.write("generation_config.json", generation_config_json(foreign.ends).dump(2) + "\n");
  Checkpoint checkpoint;
  checkpoint.tokenizer = foreign.tokenizer->fingerprint();
  checkpoint.settings = settings_text(config);
  for (int i = 0; i < model.parameters().size(); ++i)
    checkpoint.model.push_back(stored(model.parameters().info(i).name, model.parameters().value(i)));
  checkpoint.state = nlohmann::ordered_json{{"imported_from", foreign.path},
                                            {"architecture", std::string(architecture_of(foreign.layout))},
                                            {"version", program_version()}}
                         .dump();
  run.save(checkpoint);
}

}  // namespace tril
