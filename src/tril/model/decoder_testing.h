// For tests of the decoder: a small configuration of each switch.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tril/model/model_testing.h"

namespace tril {

/// Two blocks, six wide, two heads, nine tokens, eight positions.
inline ModelConfig small_decoder() {
  ModelConfig c = small_config("decoder", 2);
  c.d_model = 8;
  c.layers = 2;
  c.context = 8;
  c.activation = "gelu";
  return c;
}

/// Every switch once, by name, beside the plain one.
inline std::vector<std::pair<std::string, ModelConfig>> decoder_variants() {
  using Change = std::function<void(ModelConfig&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"plain", [](ModelConfig&) {}},
      {"post_norm", [](ModelConfig& c) { c.norm_place = "post", c.final_norm = false; }},
      {"rms", [](ModelConfig& c) { c.norm = "rms"; }},
      {"no_norm", [](ModelConfig& c) { c.norm = "none"; }},
      {"no_gain", [](ModelConfig& c) { c.norm_gain = false; }},
      {"norm_bias_without_gain", [](ModelConfig& c) { c.norm_gain = false, c.bias = true; }},
      {"embedding_norm", [](ModelConfig& c) { c.embedding_norm = true; }},
      {"sinusoidal", [](ModelConfig& c) { c.position = "sinusoidal"; }},
      {"rotary_half", [](ModelConfig& c) { c.position = "rotary"; }},
      {"rotary_interleaved",
       [](ModelConfig& c) { c.position = "rotary", c.rope_pairing = "interleaved", c.rope_theta = 100; }},
      {"no_position", [](ModelConfig& c) { c.position = "none"; }},
      {"relu2", [](ModelConfig& c) { c.activation = "relu2"; }},
      {"gelu_tanh", [](ModelConfig& c) { c.activation = "gelu_tanh"; }},
      {"swiglu", [](ModelConfig& c) { c.activation = "swiglu", c.bias = true; }},
      {"shared_key_heads", [](ModelConfig& c) { c.heads = 4, c.kv_heads = 2, c.d_v = 12; }},
      {"all_biases", [](ModelConfig& c) { c.bias = c.attention_bias = c.head_bias = true; }},
      {"tied", [](ModelConfig& c) { c.tied = true; }},
      {"dropout", [](ModelConfig& c) { c.dropout = 0.3; }},
      {"encoder", [](ModelConfig& c) { c.mask = "none"; }},
      {"qk_norm", [](ModelConfig& c) { c.qk_norm = true, c.position = "rotary"; }},
      {"softcap", [](ModelConfig& c) { c.softcap = 1.5, c.head_bias = true; }},
      {"gpt2_init", [](ModelConfig& c) { c.init = "gpt2", c.tied = true, c.bias = c.attention_bias = true; }},
      {"microgpt", [](ModelConfig& c) {
         c.init = "microgpt", c.norm = "rms", c.norm_gain = false, c.embedding_norm = true;
         c.final_norm = false;
       }}};
  std::vector<std::pair<std::string, ModelConfig>> variants;
  for (const auto& [name, change] : changes) {
    variants.emplace_back(name, small_decoder());
    change(variants.back().second);
  }
  return variants;
}

inline std::unique_ptr<Model> drawn(const ModelConfig& config, DType dtype, uint64_t seed = 11) {
  std::unique_ptr<Model> model = make_model(config, dtype);
  TorchGenerator random(seed);
  model->initialize(random);
  return model;
}

}  // namespace tril
