#include "tril/formats/hf_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {
using nlohmann::json;

json llama() {
  return {{"model_type", "llama"},    {"hidden_size", 64},     {"intermediate_size", 128},
          {"num_hidden_layers", 2},   {"vocab_size", 262},     {"num_attention_heads", 4},
          {"num_key_value_heads", 2}, {"rms_norm_eps", 1e-5},  {"max_position_embeddings", 128},
          {"hidden_act", "silu"},     {"rope_theta", 10000.0}, {"eos_token_id", {2, 5}}};
}
json gpt2() {
  return {{"model_type", "gpt2"}, {"n_embd", 64},       {"n_head", 4},
          {"n_layer", 2},         {"n_positions", 128}, {"vocab_size", 262}};
}
json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}
std::string refusal(const json& config) {
  return refusal_of([&] { parse_hf_config(config, "config.json"); });
}

TEST(HfConfig, ReadsALlama) {
  const HfConfig read = parse_hf_config(llama(), "config.json");
  EXPECT_EQ(read.layout, Layout::kHfLlama);
  const ModelConfig& m = read.model;
  EXPECT_EQ(m.d_model, 64);
  EXPECT_EQ(m.hidden, 128);
  EXPECT_EQ(m.heads, 4);
  EXPECT_EQ(m.kv_heads, 2);
  EXPECT_EQ(m.d_k, 64);
  EXPECT_EQ(m.norm, "rms");
  EXPECT_EQ(m.rope_theta, 10000);
  EXPECT_EQ(m.norm_epsilon, 1e-5);
  EXPECT_FALSE(m.tied);  // Llama's default, not stated
  EXPECT_FALSE(read.tied_stated);
  EXPECT_EQ(read.ends, (EndTokens{std::nullopt, {2, 5}}));
}

TEST(HfConfig, ReadsAGpt2WithItsDefaults) {
  const HfConfig read = parse_hf_config(gpt2(), "config.json");
  EXPECT_EQ(read.layout, Layout::kHfGpt2);
  EXPECT_EQ(read.model.hidden, 256);
  EXPECT_EQ(read.model.activation, "gelu_tanh");
  EXPECT_TRUE(read.model.tied);
  EXPECT_TRUE(read.model.bias && read.model.attention_bias);
  EXPECT_TRUE(read.ends.ends.empty());
  EXPECT_EQ(parse_hf_config(with(gpt2(), "activation_function", "gelu"), "").model.activation, "gelu");
}

// Newer files hold rope_theta in rope_parameters: read, never the default.
TEST(HfConfig, ReadsRotaryBasesOldAndNew) {
  json config = llama();
  config.erase("rope_theta");
  EXPECT_EQ(parse_hf_config(config, "").model.rope_theta, 10000);
  config["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  EXPECT_EQ(parse_hf_config(config, "").model.rope_theta, 500000);
}

TEST(HfConfig, TwoRotaryBasesMustAgree) {
  json config = llama();
  config["rope_theta"] = 500000;
  config["rope_parameters"] = {{"rope_theta", 500000.0}};
  EXPECT_EQ(parse_hf_config(config, "").model.rope_theta, 500000);
  config["rope_theta"] = -1;
  EXPECT_EQ(
      refusal(config),
      "config.json: rope_theta is -1, but rope_parameters.rope_theta is 500000.0; take out the one that "
      "is wrong");
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_theta", 0}};
  EXPECT_EQ(refusal(config),
            "config.json: rope_parameters.rope_theta is 0, a finite number above 0 is needed");
}

TEST(HfConfig, RefusesByKeyAndValue) {
  EXPECT_EQ(refusal(with(llama(), "rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}})),
            "config.json: rope_scaling.factor is 8.0; tril has only rope_theta");
  EXPECT_EQ(refusal(with(llama(), "rope_scaling", {{"rope_type", "linear"}})),
            "config.json: rope_scaling.rope_type is \"linear\"; tril has only \"default\"");
  EXPECT_EQ(refusal(with(llama(), "hidden_act", "relu9")),
            "config.json: hidden_act is \"relu9\"; tril has silu for Llama");
  EXPECT_EQ(refusal(with(llama(), "quantization_config", {{"quant_method", "gptq"}})),
            "config.json: quantization_config is {\"quant_method\":\"gptq\"}; tril reads no quantised "
            "weights in Hugging "
            "Face's folders");
  EXPECT_EQ(refusal(with(gpt2(), "scale_attn_by_inverse_layer_idx", true)),
            "config.json: scale_attn_by_inverse_layer_idx is true; tril has only false");
  EXPECT_EQ(refusal(with(llama(), "model_type", "mistral")),
            "config.json: model_type is 'mistral'; tril reads gpt2 and llama");
  EXPECT_EQ(refusal(with(llama(), "hidden_size", -64)),
            "config.json: hidden_size is -64, must be 1 to 65536");
  EXPECT_EQ(refusal(with(llama(), "hidden_size", 64.5)),
            "config.json: hidden_size is 64.5, an integer is needed");
  EXPECT_EQ(refusal(with(llama(), "num_key_value_heads", 3)),
            "config.json: num_attention_heads 4 is not divisible by num_key_value_heads 3");
  EXPECT_EQ(refusal(with(llama(), "rms_norm_eps", 0)),
            "config.json: rms_norm_eps is 0, a finite number above 0 is needed");
  EXPECT_EQ(refusal(with(llama(), "eos_token_id", "x")),
            "config.json: eos_token_id is \"x\", a token's id is needed");
  EXPECT_EQ(refusal(json::array()), "config.json: is no JSON object");
  EXPECT_EQ(refusal(json::object()), "config.json: lacks model_type; tril reads gpt2 and llama");
  json config = llama();
  config.erase("hidden_size");
  EXPECT_EQ(refusal(config), "config.json: lacks hidden_size");
}

TEST(HfConfig, ComesBackAsItWent) {
  ModelConfig gpt2 = small_gpt2(), llama = small_llama();
  gpt2.activation = "relu2";
  gpt2.tied = false;
  llama.rope_theta = 12345;
  llama.d_k = llama.d_v = 16;
  const std::pair<ModelConfig, Layout> cases[] = {{gpt2, Layout::kHfGpt2}, {llama, Layout::kHfLlama}};
  for (const auto& [config, layout] : cases) {
    const EndTokens ends = {3, {4, 5}};
    const HfConfig read = parse_hf_config(json(hf_config_json(config, layout, ends)), "config.json");
    EXPECT_EQ(read.layout, layout);
    EXPECT_EQ(read.ends, ends);
    EXPECT_TRUE(read.tied_stated);
    const ModelConfig& m = read.model;
    EXPECT_EQ(
        std::tie(m.d_model, m.heads, m.kv_heads, m.hidden, m.layers, m.context, m.vocab_size, m.tied, m.norm,
                 m.position, m.activation, m.norm_epsilon, m.rope_theta, m.bias, m.attention_bias),
        std::tie(config.d_model, config.heads, config.kv_heads, config.hidden, config.layers, config.context,
                 config.vocab_size, config.tied, config.norm, config.position, config.activation,
                 config.norm_epsilon, config.rope_theta, config.bias, config.attention_bias));
  }
}

TEST(GenerationConfig, TellsNoneOneOrSeveralEnds) {
  for (const EndTokens& ends : {EndTokens{}, EndTokens{1, {2}}, EndTokens{std::nullopt, {2, 3}}})
    EXPECT_EQ(parse_generation_config(json(generation_config_json(ends)), ""), ends);
  EXPECT_EQ(parse_generation_config(json::object(), ""), std::nullopt);
}

}  // namespace
}  // namespace tril
