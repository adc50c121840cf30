#include "tril/formats/hf_config.h"

#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "tril/formats/hf_folder.h"
#include "tril/text/load_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tril;
  return fuzz(data, size, [](std::string_view bytes) {
    const nlohmann::json json = parse_json_file(bytes, "x");
    fuzz(nullptr, 0, [&](std::string_view) { parse_generation_config(json, "x"); });
    fuzz(nullptr, 0, [&](std::string_view) { shards_of_index(as_file(bytes, ".index.json")); });
    const HfConfig config = parse_hf_config(json, "x");
    accept([&] {
      const nlohmann::ordered_json out = hf_config_json(config.model, config.layout, config.ends);
      const HfConfig again = parse_hf_config(nlohmann::json::parse(out.dump()), "written");
      require(hf_config_json(again.model, again.layout, again.ends) == out,
              "hf_config: written and read again, it differs");
      parse_generation_config(nlohmann::json::parse(generation_config_json(config.ends).dump()), "written");
    });
  });
}
