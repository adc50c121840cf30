#include "tril/formats/nanogpt.h"

#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/formats/model_limits.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {
using nlohmann::json;

int64_t integer(const json& arguments, const char* key, int64_t most, const std::string& path) {
  const auto value = arguments.find(key);
  const std::optional<int64_t> number = value == arguments.end() ? std::nullopt : whole_number(*value);
  if (!number || *number < 1 || *number > most) {
    refuse("{}: model_args: {} is {}, an integer of 1 to {} is needed", path, key,
           value == arguments.end() ? "missing" : value->dump(), most);
  }
  return *number;
}

ModelConfig config_of(const json& arguments, const std::string& path) {
  ModelConfig m;
  m.family = "decoder";
  m.layers = integer(arguments, "n_layer", kMostLayers, path);
  m.heads = m.kv_heads = integer(arguments, "n_head", kMostHeads, path);
  m.d_model = integer(arguments, "n_embd", kMostWidth / 4, path);
  m.context = integer(arguments, "block_size", kMostContext, path);
  m.vocab_size = integer(arguments, "vocab_size", kMostTokens, path);
  const auto bias = arguments.find("bias");
  if (bias == arguments.end() || !bias->is_boolean())
    refuse("{}: model_args: bias is neither true nor false", path);
  if (m.d_model % m.heads != 0)
    refuse("{}: model_args: n_embd {} is not divisible by n_head {}", path, m.d_model, m.heads);
  m.bias = m.attention_bias = bias->get<bool>();
  m.hidden = 4 * m.d_model;
  m.norm = "layer", m.norm_place = "pre", m.final_norm = true;
  m.position = "learned", m.activation = "gelu", m.tied = true;
  return m;
}

}  // namespace

ForeignModel open_nanogpt(const std::string& path, const std::optional<std::string>& tokenizer) {
  auto file = std::make_unique<SafetensorsFile>(path);
  const auto stated = file->metadata().find("model_args");
  if (stated == file->metadata().end()) {
    refuse(
        "{}: its metadata has no model_args (nanoGPT's GPTConfig), so the model's heads can't be told; for "
        "other "
        "models give the folder with config.json",
        path);
  }
  const json arguments = parse_json_file(stated->second, path);
  if (!arguments.is_object()) refuse("{}: model_args is no JSON object", path);
  ForeignModel model;
  model.path = path;
  model.layout = Layout::kNanoGpt;
  model.config = config_of(arguments, path);
  model.tensors.add(std::move(file));
  remove_buffers(model.tensors);
  const ForeignTensor *head = model.tensors.find("lm_head.weight"),
                      *table = model.tensors.find("transformer.wte.weight");
  if (head != nullptr && table != nullptr) {
    if (!equal_numbers(*head, *table))
      refuse("{}: lm_head.weight and transformer.wte.weight differ; nanoGPT ties them", path);
    model.tensors.remove("lm_head.weight");
  }
  const std::string beside = path.substr(0, path.find_last_of('/') + 1) + "tokenizer.json";
  if (tokenizer || file_exists(beside)) model.tokenizer = load_tokenizer(tokenizer.value_or(beside));
  return model;
}

Exported export_nanogpt(const ExportedModel& model, const std::string& path) {
  const ModelConfig& config = model.model.config();
  require_counterpart(config, Layout::kNanoGpt, model.name);
  const nlohmann::ordered_json arguments = {
      {"n_layer", config.layers},        {"n_head", config.heads},
      {"n_embd", config.d_model},        {"block_size", config.context},
      {"vocab_size", config.vocab_size}, {"bias", config.bias || config.attention_bias},
      {"dropout", config.dropout}};
  Exported done;
  write_file_atomically(path, [&](FileWriter& file) {
    done = write_layout(file, model, Layout::kNanoGpt, {{"model_args", arguments.dump()}});
  });
  return done;
}

}  // namespace tril
