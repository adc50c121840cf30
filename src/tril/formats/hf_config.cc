#include "tril/formats/hf_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/formats/model_limits.h"

namespace tril {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

// Keys that change nothing in what a causal model computes.
const std::set<std::string> kWithoutEffect = {"architectures",
                                              "torch_dtype",
                                              "dtype",
                                              "transformers_version",
                                              "use_cache",
                                              "initializer_range",
                                              "pad_token_id",
                                              "attn_pdrop",
                                              "embd_pdrop",
                                              "resid_pdrop",
                                              "attention_dropout",
                                              "reorder_and_upcast_attn",
                                              "summary_activation",
                                              "summary_first_dropout",
                                              "summary_proj_to_labels",
                                              "summary_type",
                                              "summary_use_proj",
                                              "task_specific_params",
                                              "n_ctx",
                                              "_name_or_path",
                                              "name_or_path",
                                              "output_attentions",
                                              "output_hidden_states",
                                              "return_dict",
                                              "id2label",
                                              "label2id",
                                              "chunk_size_feed_forward",
                                              "is_decoder",
                                              "gradient_checkpointing",
                                              "unsloth_version",
                                              "unsloth_fixed",
                                              "_attn_implementation",
                                              "_flash_attn_2_enabled",
                                              "transformers.js_config",
                                              "cross_attention_hidden_size",
                                              "finetuning_task",
                                              "prefix",
                                              "problem_type",
                                              "tokenizer_class",
                                              "sep_token_id",
                                              "decoder_start_token_id",
                                              "_from_model_config"};

// Reads keys with their types and ranges; remembers which were read.
class Reader {
 public:
  Reader(const json& config, const std::string& name) : config_(config), name_(name) {}

  const json* find(const char* key) {
    known_.insert(key);
    const auto found = config_.find(key);
    return found == config_.end() || found->is_null() ? nullptr : &*found;
  }

  [[noreturn]] void refuse_value(const char* key, const json& value, const std::string& needed) const {
    refuse("{}: {} is {}; tril {}", name_, key, shortened(value), needed);
  }

  int64_t integer(const char* key, int64_t most, std::optional<int64_t> missing = std::nullopt) {
    const json* value = find(key);
    if (value == nullptr) {
      if (missing) return *missing;
      refuse("{}: lacks {}", name_, key);
    }
    if (!value->is_number_integer())
      refuse("{}: {} is {}, an integer is needed", name_, key, shortened(*value));
    const std::optional<int64_t> number = whole_number(*value);
    if (!number || *number < 1 || *number > most)
      refuse("{}: {} is {}, must be 1 to {}", name_, key, value->dump(), most);
    return *number;
  }

  double positive(const char* key, const json* value, double missing) const {
    if (value == nullptr) return missing;
    if (!value->is_number() || !std::isfinite(value->get<double>()) || value->get<double>() <= 0)
      refuse("{}: {} is {}, a finite number above 0 is needed", name_, key, shortened(*value));
    return value->get<double>();
  }

  bool flag(const char* key, bool missing) {
    const json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_boolean()) refuse("{}: {} is {}, true or false is needed", name_, key, shortened(*value));
    return value->get<bool>();
  }

  std::string word(const char* key, const std::string& missing) {
    const json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_string()) refuse("{}: {} is {}, a word is needed", name_, key, shortened(*value));
    return value->get<std::string>();
  }

  /// Refuses a key that stands there with another value than one that has no effect.
  void must_be(const char* key, const json& harmless) {
    if (const json* value = find(key); value != nullptr && *value != harmless)
      refuse_value(key, *value, fmt::format("has only {}", harmless.dump()));
  }
  void must_be_absent(const char* key, const char* what) {
    const json* value = find(key);
    if (value != nullptr && *value != json(false) && !value->empty())
      refuse_value(key, *value, fmt::format("reads no {}", what));
  }

  void warn_unknown() const {
    for (const auto& [key, value] : config_.items()) {
      if (known_.count(key) == 0 && kWithoutEffect.count(key) == 0 && !value.is_null())
        log::warn("{}: the key {} = {} is not known to tril and was passed over", name_, in_quotes(key),
                  shortened(value));
    }
  }

  const std::string& name() const { return name_; }
  static std::string shortened(const json& value) {
    const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return text.size() <= 80 ? text : text.substr(0, 77) + "...";
  }

 private:
  const json& config_;
  const std::string& name_;
  std::set<std::string> known_ = {"model_type"};
};

int32_t token_id(const json& value, const char* key, const std::string& name) {
  const std::optional<int64_t> number = whole_number(value);
  if (!number || *number < 0 || *number > INT32_MAX)
    refuse("{}: {} is {}, a token's id is needed", name, key, Reader::shortened(value));
  return static_cast<int32_t>(*number);
}

EndTokens end_tokens(Reader& reader) {
  EndTokens ends;
  if (const json* begin = reader.find("bos_token_id"))
    ends.begin = token_id(*begin, "bos_token_id", reader.name());
  const json* end = reader.find("eos_token_id");
  if (end == nullptr) return ends;
  for (const json& id : end->is_array() ? *end : json::array({*end}))
    ends.ends.push_back(token_id(id, "eos_token_id", reader.name()));
  return ends;
}

std::string gpt2_activation(Reader& reader) {
  const std::string word = reader.word("activation_function", "gelu_new");
  if (word == "gelu_new" || word == "gelu_pytorch_tanh") return "gelu_tanh";
  if (word == "gelu" || word == "relu" || word == "relu2") return word;
  reader.refuse_value("activation_function", word, "has gelu_new, gelu_pytorch_tanh, gelu, relu and relu2");
}

void read_gpt2(Reader& reader, ModelConfig& m) {
  m.d_model = reader.integer("n_embd", kMostWidth);
  m.heads = m.kv_heads = reader.integer("n_head", kMostHeads);
  m.layers = reader.integer("n_layer", kMostLayers);
  m.context = reader.integer("n_positions", kMostContext);
  m.hidden = reader.integer("n_inner", kMostHidden, 4 * m.d_model);
  m.norm = "layer";
  m.position = "learned";
  m.activation = gpt2_activation(reader);
  m.bias = m.attention_bias = true;
  m.norm_epsilon = reader.positive("layer_norm_epsilon", reader.find("layer_norm_epsilon"), 1e-5);
  if (m.d_model % m.heads != 0)
    refuse("{}: n_embd {} is not divisible by n_head {}", reader.name(), m.d_model, m.heads);
  reader.must_be("scale_attn_weights", true);
  reader.must_be("scale_attn_by_inverse_layer_idx", false);
  reader.must_be("add_cross_attention", false);
  reader.must_be_absent("pruned_heads", "pruned heads");
}

// rope_theta and rope_scaling, or both in rope_parameters (transformers 5).
void read_rope(Reader& reader, ModelConfig& m) {
  const json* theta = reader.find("rope_theta");
  std::string said = "rope_theta";  // where
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const json* part = reader.find(key);
    if (part == nullptr) continue;
    if (!part->is_object()) reader.refuse_value(key, *part, "needs an object");
    for (const auto& [name, value] : part->items()) {
      const std::string full = fmt::format("{}.{}", key, name);
      if (name == "rope_theta") {
        if (theta != nullptr && *theta != value) {
          refuse("{}: {} is {}, but {} is {}; take out the one that is wrong", reader.name(), said,
                 Reader::shortened(*theta), full, Reader::shortened(value));
        }
        theta = &value;
        said = full;
      } else if (name == "rope_type" || name == "type") {
        if (value != "default") reader.refuse_value(full.c_str(), value, "has only \"default\"");
      } else if (name == "partial_rotary_factor") {
        if (value != 1.0) reader.refuse_value(full.c_str(), value, "has only 1");
      } else {
        reader.refuse_value(full.c_str(), value, "has only rope_theta");
      }
    }
  }
  m.rope_theta = reader.positive(said.c_str(), theta, 10000);
  m.rope_pairing = "half";
}

void read_llama(Reader& reader, ModelConfig& m) {
  m.d_model = reader.integer("hidden_size", kMostWidth);
  m.heads = reader.integer("num_attention_heads", kMostHeads);
  m.kv_heads = reader.integer("num_key_value_heads", kMostHeads, m.heads);
  m.layers = reader.integer("num_hidden_layers", kMostLayers);
  m.context = reader.integer("max_position_embeddings", kMostContext, 2048);
  m.hidden = reader.integer("intermediate_size", kMostHidden);
  const json* head_dim = reader.find("head_dim");
  if (head_dim == nullptr && m.d_model % m.heads != 0)
    refuse("{}: hidden_size {} is not divisible by num_attention_heads {}", reader.name(), m.d_model,
           m.heads);
  if (m.heads % m.kv_heads != 0) {
    refuse("{}: num_attention_heads {} is not divisible by num_key_value_heads {}", reader.name(), m.heads,
           m.kv_heads);
  }
  const int64_t head = reader.integer("head_dim", kMostWidth, m.d_model / m.heads);
  if (head % 2 != 0) refuse("{}: head_dim is {}; rotary positions need an even one", reader.name(), head);
  m.d_k = m.d_v = head * m.heads;
  if (m.d_k > kMostWidth)
    refuse("{}: head_dim {} times {} heads is above {}", reader.name(), head, m.heads, kMostWidth);
  m.norm = "rms";
  m.position = "rotary";
  const std::string activation = reader.word("hidden_act", "silu");
  if (activation != "silu" && activation != "swish")
    reader.refuse_value("hidden_act", activation, "has silu for Llama");
  m.activation = "swiglu";
  m.attention_bias = reader.flag("attention_bias", false);
  m.bias = reader.flag("mlp_bias", false);
  m.norm_epsilon = reader.positive("rms_norm_eps", reader.find("rms_norm_eps"), 1e-6);
  read_rope(reader, m);
  if (const json* factor = reader.find("partial_rotary_factor"); factor != nullptr && *factor != 1.0)
    reader.refuse_value("partial_rotary_factor", *factor, "has only 1");
  reader.must_be("pretraining_tp", 1);
  reader.must_be_absent("sliding_window", "sliding window");
}

}  // namespace

std::optional<int64_t> whole_number(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return std::nullopt;
  return value.get<int64_t>();
}

HfConfig parse_hf_config(const json& config, const std::string& name) {
  if (!config.is_object()) refuse("{}: is no JSON object", name);
  Reader reader(config, name);
  const std::string type = reader.word("model_type", "");
  if (type.empty()) refuse("{}: lacks model_type; tril reads gpt2 and llama", name);
  if (type != "gpt2" && type != "llama")
    refuse("{}: model_type is {}; tril reads gpt2 and llama", name, in_quotes(type));
  reader.must_be_absent("quantization_config", "quantised weights in Hugging Face's folders");
  HfConfig read;
  read.layout = type == "gpt2" ? Layout::kHfGpt2 : Layout::kHfLlama;
  read.model.family = "decoder";
  read.model.norm_place = "pre";
  read.model.final_norm = true;
  read.model.vocab_size = reader.integer("vocab_size", kMostTokens);
  if (type == "gpt2") {
    read_gpt2(reader, read.model);
  } else {
    read_llama(reader, read.model);
  }
  read.tied_stated = reader.find("tie_word_embeddings") != nullptr;
  read.model.tied = reader.flag("tie_word_embeddings", type == "gpt2");
  read.ends = end_tokens(reader);
  reader.warn_unknown();
  return read;
}

namespace {

ordered_json ids_json(const std::vector<int32_t>& ids) {
  if (ids.empty()) return nullptr;
  return ids.size() == 1 ? ordered_json(ids.front()) : ordered_json(ids);
}

ordered_json gpt2_json(const ModelConfig& m) {
  return {{"n_embd", m.d_model},
          {"n_head", m.heads},
          {"n_layer", m.layers},
          {"n_positions", m.context},
          {"n_inner", m.hidden},
          {"activation_function", m.activation == "gelu_tanh" ? "gelu_new" : m.activation},
          {"layer_norm_epsilon", m.norm_epsilon},
          {"attn_pdrop", m.dropout},
          {"embd_pdrop", m.dropout},
          {"resid_pdrop", m.dropout}};
}

ordered_json llama_json(const ModelConfig& m) {
  const int64_t d_k = m.d_k > 0 ? m.d_k : m.d_model;
  return {{"hidden_size", m.d_model},
          {"intermediate_size", m.hidden},
          {"num_hidden_layers", m.layers},
          {"num_attention_heads", m.heads},
          {"num_key_value_heads", m.kv_heads > 0 ? m.kv_heads : m.heads},
          {"head_dim", d_k / m.heads},
          {"hidden_act", "silu"},
          {"max_position_embeddings", m.context},
          {"rms_norm_eps", m.norm_epsilon},
          {"rope_theta", m.rope_theta},
          {"rope_parameters", {{"rope_theta", m.rope_theta}, {"rope_type", "default"}}},
          {"attention_bias", m.attention_bias},
          {"mlp_bias", m.bias},
          {"attention_dropout", 0.0}};
}

}  // namespace

ordered_json hf_config_json(const ModelConfig& model, Layout layout, const EndTokens& ends) {
  const bool llama = layout == Layout::kHfLlama;
  ordered_json config = {{"model_type", std::string(architecture_of(layout))},
                         {"architectures", {llama ? "LlamaForCausalLM" : "GPT2LMHeadModel"}},
                         {"vocab_size", model.vocab_size}};
  config.update(llama ? llama_json(model) : gpt2_json(model));
  config["tie_word_embeddings"] = model.tied;
  config["bos_token_id"] = ends.begin ? ordered_json(*ends.begin) : ordered_json();
  config["eos_token_id"] = ids_json(ends.ends);
  config["torch_dtype"] = "float32";
  return config;
}

ordered_json generation_config_json(const EndTokens& ends) {
  return {{"bos_token_id", ends.begin ? ordered_json(*ends.begin) : ordered_json()},
          {"eos_token_id", ids_json(ends.ends)}};
}

std::optional<EndTokens> parse_generation_config(const json& config, const std::string& name) {
  if (!config.is_object()) refuse("{}: is no JSON object", name);
  if (!config.contains("eos_token_id")) return std::nullopt;
  Reader reader(config, name);
  return end_tokens(reader);
}

}  // namespace tril
