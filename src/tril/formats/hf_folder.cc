#include "tril/formats/hf_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {
using nlohmann::json;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

json read_json(const std::string& path) {
  return parse_json_file(read_file(path), path);
}

constexpr const char* kPickled[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};

ForeignTensors open_weights(const std::string& folder) {
  ForeignTensors tensors;
  if (file_exists(folder + "/" + kWeights)) {
    tensors.add(std::make_unique<SafetensorsFile>(folder + "/" + kWeights));
    return tensors;
  }
  if (file_exists(folder + "/" + kIndex)) {
    for (const std::string& shard : shards_of_index(folder + "/" + kIndex))
      tensors.add(std::make_unique<SafetensorsFile>(folder + "/" + shard));
    const json map = read_json(folder + "/" + kIndex)["weight_map"];  // of the form that was just checked
    for (const auto& [name, shard] : map.items()) {
      const ForeignTensor* tensor = tensors.find(name);
      if (tensor == nullptr || tensor->file != folder + "/" + shard.get<std::string>())
        refuse("{}/{}: tensor {} should be in {}, it is not", folder, kIndex, in_quotes(name), shard.dump());
    }
    return tensors;
  }
  for (const char* pickled : kPickled) {
    if (file_exists(folder + "/" + pickled)) {
      refuse(
          "{}: holds PyTorch's pickled weights ({}), which can run code when they are read; save the model "
          "as "
          "safetensors",
          folder, pickled);
    }
  }
  refuse("{}: holds no {} and no {}", folder, kWeights, kIndex);
}

// A GPT2Model's or LlamaModel's own file has the same names without the first word.
void complete_names(ForeignTensors& tensors, Layout layout) {
  const std::string prefix = layout == Layout::kHfGpt2 ? "transformer." : "model.";
  const ForeignTensor* head = tensors.find("lm_head.weight");
  const bool prefixed =
      std::any_of(tensors.all().begin(), tensors.all().end(),
                  [&](const ForeignTensor& tensor) { return tensor.name.starts_with(prefix); });
  if (!prefixed && head == nullptr) tensors.prefix(prefix);
}

// Whether the head is the token table: what the configuration says and what the file holds must agree.
void settle_tied(ForeignModel& model, bool stated) {
  const char* tokens =
      model.layout == Layout::kHfGpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight";
  const ForeignTensor *head = model.tensors.find("lm_head.weight"), *table = model.tensors.find(tokens);
  if (table == nullptr) return;  // told with all others that are missing
  if (head == nullptr && !stated && !model.config.tied) {
    log::note("{}: no lm_head.weight and no tie_word_embeddings: the head is the token table", model.path);
    model.config.tied = true;
  }
  if (head == nullptr || !model.config.tied) return;
  if (!equal_numbers(*head, *table)) {
    refuse(
        "{}: {} says that the head is the token table, but lm_head.weight and {} differ; set "
        "tie_word_embeddings to false in config.json to use both, or take one of them out",
        model.path, stated ? "config.json" : "the architecture", tokens);
  }
  model.tensors.remove("lm_head.weight");
}

}  // namespace

bool is_name_beside(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\0", 2)) == name.npos;
}

std::vector<std::string> shards_of_index(const std::string& path) {
  const json index = read_json(path);
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object() || map->empty())
    refuse("{}: is no index of shards: it has no weight_map", path);
  const std::string folder = path.substr(0, path.find_last_of('/') + 1);
  std::set<std::string> shards;
  for (const auto& [name, shard] : map->items()) {
    if (!shard.is_string())
      refuse("{}: the shard of {} is {}, a file's name is needed", path, in_quotes(name), shard.dump());
    const auto& file = shard.get_ref<const std::string&>();
    if (!is_name_beside(file))
      refuse("{}: the shard of {} is {}; shards lie beside the index", path, in_quotes(name),
             in_quotes(file));
    shards.insert(file);
  }
  std::vector<std::string> missing;
  for (const std::string& shard : shards)
    if (!file_exists(folder + shard)) missing.push_back(in_quotes(shard));
  if (!missing.empty())
    refuse("{}: {} of {} shards are missing: {}", path, missing.size(), shards.size(),
           fmt::join(missing, ", "));
  return {shards.begin(), shards.end()};
}

bool holds_hf_model(const std::string& path) {
  const auto has = [&](const char* file) { return file_exists(path + "/" + file); };
  return has("config.json") &&
         (has(kWeights) || has(kIndex) || std::any_of(std::begin(kPickled), std::end(kPickled), has));
}

ForeignModel open_hf_folder(const std::string& path, const std::optional<std::string>& tokenizer) {
  ForeignModel model;
  model.path = path;
  const HfConfig config = parse_hf_config(read_json(path + "/config.json"), path + "/config.json");
  model.layout = config.layout;
  model.config = config.model;
  model.ends = config.ends;
  const std::string generation = path + "/generation_config.json";
  if (file_exists(generation)) {
    if (const auto ends = parse_generation_config(read_json(generation), generation))
      model.ends.ends = ends->ends;
  }
  model.tensors = open_weights(path);
  remove_buffers(model.tensors);
  complete_names(model.tensors, model.layout);
  settle_tied(model, config.tied_stated);
  const bool own = file_exists(path + "/tokenizer.json") || file_exists(path + "/vocab.json");
  if (tokenizer || own) model.tokenizer = load_tokenizer(tokenizer.value_or(path));
  return model;
}

}  // namespace tril
