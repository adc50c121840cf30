#include "tril/formats/foreign_model.h"

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/formats/gguf_model.h"
#include "tril/formats/hf_folder.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/model/registry.h"

namespace tril {
namespace {

// Rows that stand for no token are cut off the model, so an end there could never be drawn.
void check_ends(const ForeignModel& model) {
  const auto check = [&](int32_t id, const char* what) {
    if (id >= model.config.vocab_size)
      refuse("{}: {} is {}, the model has {} rows", model.path, what, id, model.config.vocab_size);
    if (model.tokenizer && id >= model.tokenizer->vocab_size())
      refuse("{}: {} is {}, the tokenizer has {} tokens", model.path, what, id,
             model.tokenizer->vocab_size());
  };
  if (model.ends.begin) check(*model.ends.begin, "bos_token_id");
  for (const int32_t id : model.ends.ends) check(id, "eos_token_id");
}

ForeignModel open_any(const std::string& path, const std::optional<std::string>& tokenizer) {
  if (folder_exists(path)) return open_hf_folder(path, tokenizer);
  if (path.ends_with(".bin")) return open_llama2c(path, tokenizer);
  if (path.ends_with(".safetensors")) return open_nanogpt(path, tokenizer);
  if (path.ends_with(".json") && file_exists(path))
    refuse("{}: is a JSON file, which holds no weights; give the Hugging Face folder that it lies in", path);
  return open_gguf_model(path, tokenizer);
}

}  // namespace

uint64_t ForeignModel::f32_bytes() const {
  uint64_t numbers = 0;
  for (const ForeignTensor& tensor : tensors.all()) numbers += static_cast<uint64_t>(tensor.elements());
  return numbers * sizeof(float);
}

bool is_foreign_model(const std::string& path) {
  if (folder_exists(path)) return file_exists(path + "/config.json") && !file_exists(path + "/config.toml");
  return path.ends_with(".gguf") || path.ends_with(".bin") || path.ends_with(".safetensors");
}

ForeignModel open_foreign_model(const std::string& given, const std::optional<std::string>& tokenizer) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (folder_exists(path) && file_exists(path + "/config.toml"))
    refuse("{}: is a run of tril's already; use it as it is", path);
  if (folder_exists(path) && file_exists(path + "/adapter_config.json")) {
    if (!holds_hf_model(path))
      refuse("{}: is an adapter without its base model; train with --from BASE --set lora.adapter={}", path,
             path);
    log::warn("{}: the adapter beside the model (adapter_config.json) is not applied", path);
  }
  if (folder_exists(path) && !file_exists(path + "/config.json"))
    refuse("{}: holds no config.json; a Hugging Face folder or a .gguf file is needed", path);
  ForeignModel model = open_any(path, tokenizer);
  check_ends(model);
  model.layout_tensors = layout_tensors(model.config, model.layout);
  model.tensors.require(model.layout_tensors, path);
  if (model.tokenizer && model.tokenizer->vocab_size() > model.config.vocab_size) {
    refuse("{}: the tokenizer has {} tokens, the model {} rows; the last tokens would have no row", path,
           model.tokenizer->vocab_size(), model.config.vocab_size);
  }
  return model;
}

std::unique_ptr<Model> load_foreign_model(const ForeignModel& foreign, DType dtype, int64_t memory) {
  const uint64_t needed = foreign.f32_bytes() / sizeof(float) * static_cast<uint64_t>(size_of(dtype));
  if (needed > static_cast<uint64_t>(memory)) {
    refuse("{}: its weights need {} bytes of memory, {} are there", foreign.path,
           with_commas(static_cast<int64_t>(needed)), with_commas(memory));
  }
  std::unique_ptr<Model> whole = make_model(foreign.config, dtype);
  foreign.copy_to(whole->parameters());
  const int64_t tokens = foreign.tokenizer ? foreign.tokenizer->vocab_size() : foreign.config.vocab_size;
  if (tokens == foreign.config.vocab_size) return whole;
  log::note("{}: {} of the vocabulary left out, for want of a token", foreign.path,
            counted(foreign.config.vocab_size - tokens, "row"));
  ModelConfig config = foreign.config;
  config.vocab_size = tokens;
  std::unique_ptr<Model> model = make_model(config, dtype);
  for (int i = 0; i < model->parameters().size(); ++i) {
    const Tensor from = whole->parameters().value(i), to = model->parameters().value(i);
    std::copy_n(static_cast<const char*>(from.data), to.bytes(), static_cast<char*>(to.data));
  }
  return model;
}

}  // namespace tril
