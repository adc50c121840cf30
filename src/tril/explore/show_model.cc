#include "tril/explore/show_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/formats/foreign_model.h"
#include "tril/formats/token_file.h"

namespace tril {
namespace {
using nlohmann::ordered_json;

Shown show_tokens(const std::string& path) {
  const TokenFile file(path, token_bits(path));
  uint32_t largest = 0;
  for (int64_t i = 0; i < file.count(); ++i) largest = std::max(largest, file.id(i));
  Shown shown{path, "tokens"};
  shown.metadata = ordered_json{
      {"tokens", file.count()},
      {"bits", file.bits()},
      {"header", file.has_header() ? ordered_json("llm.c") : ordered_json()},
      {"largest_id",
       largest}}.dump();
  return shown;
}

}  // namespace

Shown show_foreign_model(const std::string& path, const std::string& kind) {
  const ForeignModel model = open_foreign_model(path);
  Shown shown{model.path, kind};
  const ModelConfig& config = model.config;
  ordered_json metadata = {{"architecture", std::string(architecture_of(model.layout))},
                           {"layers", config.layers},
                           {"d_model", config.d_model},
                           {"heads", config.heads},
                           {"kv_heads", config.kv_heads},
                           {"context", config.context},
                           {"vocab_size", config.vocab_size},
                           {"tied", config.tied},
                           {"end_tokens", model.ends.ends}};
  if (model.tokenizer) {
    metadata["tokenizer"] = std::string(model.tokenizer->kind());
    metadata["fingerprint"] = model.tokenizer->fingerprint();
  }
  shown.metadata = metadata.dump();
  std::vector<float> numbers;
  for (const ForeignTensor& tensor : model.tensors.all()) {
    numbers.resize(static_cast<size_t>(tensor.elements()));
    tensor.to_float(numbers);
    add_tensor(shown, tensor.name, tensor.type, tensor.shape,
               range_of({"",
                         StoredType::kF32,
                         {tensor.elements()},
                         {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)}}));
  }
  return shown;
}

Shown show_bin(const std::string& path) {
  std::string why;
  try {
    return show_foreign_model(path, "llama2c");
  } catch (const Refusal& refusal) {
    why = refusal.what();
  }
  try {
    return show_tokens(path);
  } catch (const Refusal& refusal) {
    refuse("{}\n{}", why, refusal.what());
  }
}

}  // namespace tril
