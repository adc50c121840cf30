#include "tril/formats/hf_config.h"

#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "tril/text/load_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size, [](std::string_view bytes) {
    tril::parse_hf_config(tril::parse_json_file(bytes, "x"), "x");
  });
}
