#include "tril/formats/peft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/formats/hf_config.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kConfig = "adapter_config.json";
constexpr const char* kWeights = "adapter_model.safetensors";
constexpr const char* kPrefix = "base_model.model.";

// A layer's name in PEFT's target_modules: "q_proj", "attn.c_proj". GPT-2 has two layers of the name c_proj.
std::string module_of(const std::string& tensor) {
  std::string_view path = tensor;
  path.remove_suffix(std::string_view(".weight").size());
  const size_t last = path.rfind('.');
  const std::string_view own = path.substr(last + 1);
  if (own != "c_proj") return std::string(own);
  return std::string(path.substr(path.rfind('.', last - 1) + 1));
}

bool covers(const LoraAdapter& adapter, const LayoutTensor& weight) {
  return adapter.layers.size() == weight.parts.size() &&
         std::equal(adapter.layers.begin(), adapter.layers.end(), weight.parts.begin(),
                    [](const LoraAdapter::Layer& layer, const LayoutTensor::Part& part) {
                      return layer.name + ".weight" == part.parameter;
                    });
}

// Each adapter's layer in the file of the base, in the adapters' order.
std::vector<std::pair<LoraAdapter, LayoutTensor>> adapted_layers(const ModelConfig& config,
                                                                 const std::string& name) {
  const Layout layout = hf_layout(config, name);
  std::map<std::string, LayoutTensor> by_first_part;
  for (LayoutTensor& tensor : layout_tensors(config, layout))
    by_first_part.emplace(tensor.parts.front().parameter, std::move(tensor));
  std::vector<std::pair<LoraAdapter, LayoutTensor>> all;
  for (LoraAdapter& adapter : lora_adapters(config)) {
    const auto found = by_first_part.find(adapter.layers.front().name + ".weight");
    if (found == by_first_part.end() || !covers(adapter, found->second))
      refuse(
          "{}: {} is adapted apart, and {} has Q, K and V in one layer; train with lora.targets c_attn, or "
          "export "
          "the model with --merge",
          name, adapter.layers.front().name, name_of(layout));
    all.emplace_back(std::move(adapter), found->second);
  }
  return all;
}

ordered_json config_json(const ModelConfig& config, const std::string& name) {
  const LoraSettings& lora = config.lora;
  std::set<std::string> modules;
  for (const auto& [adapter, weight] : adapted_layers(config, name)) modules.insert(module_of(weight.name));
  const bool whole = lora.alpha == std::floor(lora.alpha);
  return {{"base_model_name_or_path", nullptr},
          {"bias", "none"},
          {"fan_in_fan_out", hf_layout(config, name) == Layout::kHfGpt2},
          {"inference_mode", true},
          {"init_lora_weights", true},
          {"lora_alpha", whole ? ordered_json(static_cast<int64_t>(lora.alpha)) : ordered_json(lora.alpha)},
          {"lora_dropout", 0.0},
          {"modules_to_save", nullptr},
          {"peft_type", "LORA"},
          {"r", lora.rank},
          {"target_modules", modules},
          {"task_type", "CAUSAL_LM"},
          {"use_dora", false},
          {"use_rslora", false}};
}

// Keys that say nothing of what a given adapter computes over its base.
const std::set<std::string> kWithoutEffect = {"auto_mapping",
                                              "base_model_name_or_path",
                                              "corda_config",
                                              "ensure_weight_tying",
                                              "eva_config",
                                              "fan_in_fan_out",
                                              "inference_mode",
                                              "init_lora_weights",
                                              "loftq_config",
                                              "lora_alpha",
                                              "lora_dropout",
                                              "lora_ga_config",
                                              "megatron_config",
                                              "megatron_core",
                                              "peft_version",
                                              "qalora_group_size",
                                              "r",
                                              "revision",
                                              "runtime_config",
                                              "target_modules"};

// What another value of a key would make of the adapter, tril does not compute. Null, false, and an empty
// list, object or text are every key's default.
const std::map<std::string, json> kNeeded = {{"peft_type", "LORA"},
                                             {"task_type", "CAUSAL_LM"},
                                             {"bias", "none"},
                                             {"use_rslora", false},
                                             {"use_dora", false},
                                             {"use_qalora", false},
                                             {"lora_bias", false},
                                             {"modules_to_save", {}},
                                             {"rank_pattern", json::object()},
                                             {"alpha_pattern", json::object()},
                                             {"layers_to_transform", {}},
                                             {"layers_pattern", {}},
                                             {"layer_replication", {}},
                                             {"target_parameters", {}},
                                             {"trainable_token_indices", {}},
                                             {"exclude_modules", {}},
                                             {"use_bdlora", {}},
                                             {"alora_invocation_tokens", {}},
                                             {"arrow_config", {}},
                                             {"kasa_config", {}},
                                             {"monteclora_config", {}},
                                             {"velora_config", {}}};

bool is_default(const json& value) {
  return value.empty() || value == false || value == "";
}

void refuse_variants(const json& config, const std::string& path) {
  std::string faults;
  const auto fault = [&](const std::string& key, const std::string& is, const std::string& needs) {
    faults += fmt::format("{}{} is {} (needs {})", faults.empty() ? "" : ", ", key, is, needs);
  };
  for (const auto& [key, value] : kNeeded) {
    const json found = config.value(key, json());
    if (found == value || (key != "peft_type" && is_default(found))) continue;
    fault(key, config.contains(key) ? found.dump() : "missing", value.dump());
  }
  // Others change the base's weights too (PiSSA takes A and B out of them), and the folder holds no base.
  const json init = config.value("init_lora_weights", json(true));
  const json kept[] = {true, false, nullptr, "gaussian", "orthogonal", "eva"};
  if (std::find(std::begin(kept), std::end(kept), init) == std::end(kept))
    fault("init_lora_weights", init.dump(),
          "true, false, null, \"gaussian\", \"orthogonal\" or \"eva\", which leave the base as it is");
  if (!faults.empty()) refuse("{}: tril does not compute this adapter: {}", path, faults);
  for (const auto& [key, value] : config.items()) {
    if (kNeeded.count(key) == 0 && kWithoutEffect.count(key) == 0 && !is_default(value))
      log::warn("{}: the key {} = {} is not known to tril and was passed over", path, in_quotes(key),
                value.dump());
  }
}

std::vector<std::string> modules_in(const json& config, const std::string& path) {
  const json modules = config.value("target_modules", json());
  if (!modules.is_array() || modules.empty() ||
      !std::all_of(modules.begin(), modules.end(),
                   [](const json& each) { return each.is_string() && each != ""; }))
    refuse("{}: target_modules is {}; a list of layers' names is needed", path, modules.dump());
  return modules.get<std::vector<std::string>>();
}

}  // namespace

std::vector<LayoutTensor> peft_tensors(const ModelConfig& config, const std::string& name) {
  std::vector<LayoutTensor> all;
  for (const auto& [adapter, weight] : adapted_layers(config, name)) {
    std::string start = kPrefix + weight.name;
    start.resize(start.size() - std::string_view("weight").size());
    const int64_t rank = config.lora.rank;
    all.push_back({start + "lora_A.weight", {rank, adapter.in}, {{adapter.name + ".lora_A", rank}}});
    LayoutTensor b{start + "lora_B.weight", {adapter.out, rank}, {{adapter.name + ".lora_B", adapter.out}}};
    b.order = weight.order, b.heads = weight.heads;  // its rows are W's
    all.push_back(std::move(b));
  }
  return all;
}

Exported export_peft(const ExportedModel& model, const std::string& folder) {
  const ModelConfig& config = model.model.config();
  const std::vector<LayoutTensor> tensors = peft_tensors(config, model.name);
  const std::string text = config_json(config, model.name).dump(2) + "\n";
  FolderWriter writer(folder);
  const auto path = [&](const char* name) { return writer.folder() + "/" + name; };
  FileWriter settings(path(kConfig), folder + "/" + kConfig);
  settings.write(text);
  settings.finish();
  FileWriter weights(path(kWeights), folder + "/" + kWeights);
  Exported done = write_tensors(weights, model.model.parameters(), tensors, {});
  weights.finish();
  writer.commit();
  done.bytes = settings.size() + weights.size();
  done.architecture = "lora";
  return done;
}

PeftAdapter::PeftAdapter(const std::string& folder) : path_(folder) {
  if (!folder_exists(folder) || !file_exists(folder + "/" + kConfig))
    refuse("{}: is no adapter in PEFT's format: it holds no {}", folder, kConfig);
  const std::string name = folder + "/" + kConfig;
  const json config = parse_json_file(read_file(name), name);
  if (!config.is_object()) refuse("{}: is no JSON object", name);
  refuse_variants(config, name);
  const auto rank = whole_number(config.value("r", json()));
  if (!rank || *rank < 1 || *rank > 4096)
    refuse("{}: r is {}; a rank of 1 to 4,096 is needed", name, config.value("r", json()).dump());
  const json alpha = config.value("lora_alpha", json());
  if (!alpha.is_number() || !(alpha.get<double>() > 0) || !std::isfinite(alpha.get<double>()))
    refuse("{}: lora_alpha is {}; a number above 0 is needed", name, alpha.dump());
  const json dropout = config.value("lora_dropout", json(0.0));
  if (!dropout.is_number() || !(dropout >= 0.0 && dropout < 1.0))
    refuse("{}: lora_dropout is {}; a number from 0 to below 1 is needed", name, dropout.dump());
  if (dropout != 0.0) dropout_ = dropout.dump();
  modules_ = modules_in(config, name);
  lora_.rank = *rank;
  lora_.alpha = alpha.get<double>();
  lora_.adapter = folder;
  if (file_exists(folder + "/adapter_model.bin") && !file_exists(folder + "/" + kWeights))
    refuse(
        "{}: holds pickled weights (adapter_model.bin), which can run code when they are read; save the "
        "adapter as "
        "safetensors",
        folder);
  tensors_.add(std::make_unique<SafetensorsFile>(folder + "/" + kWeights));
  if (const auto faults = not_finite(tensors_); !faults.empty())
    refuse("{}: no training can begin from it", faults.front());
  lora_.adapter_sha256 = tensors_.sha256();
}

std::string PeftAdapter::settings_path() const {
  return path_ + "/" + kConfig;
}

LoraSettings PeftAdapter::settings(const ModelConfig& base) const {
  // A whole path ends in the layer's name: "transformer.h.0.attn.c_attn" is c_attn.
  std::set<std::string> targets;
  for (const std::string& module : modules_) targets.insert(lora_target_of(base, module));
  LoraSettings lora = lora_;
  lora.targets = fmt::format("{}", fmt::join(targets, ","));
  ModelConfig adapted = base;
  adapted.lora = lora;
  if (const std::string fault = lora_fault(adapted); !fault.empty()) refuse("{}: {}", path_, fault);
  return lora;
}

void PeftAdapter::require_of(const LoraSettings& lora) const {
  if (lora.adapter_sha256 == lora_.adapter_sha256) return;
  refuse(
      "{}: its weights have SHA-256 {}, the run was begun from {}; put the old ones back, or train a new run",
      path_, lora_.adapter_sha256, lora.adapter_sha256.empty() ? "others" : lora.adapter_sha256);
}

void PeftAdapter::copy_to(const ModelConfig& config, Parameters& parameters) const {
  const std::vector<LayoutTensor> needed = peft_tensors(config, path_);
  try {
    tensors_.require(needed, path_ + "/" + kWeights);
  } catch (const Refusal& refusal) {
    refuse("{}; it is an adapter of another base model", refusal.what());
  }
  tensors_.copy_to(needed, parameters);
  if (!dropout_.empty()) log::warn("{}: lora_dropout {} is not applied", settings_path(), dropout_);
}

}  // namespace tril
