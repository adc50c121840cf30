#include "tril/formats/peft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ModelConfig adapted(ModelConfig config, const std::string& targets = "") {
  config.lora.rank = 2, config.lora.alpha = 6;
  config.lora.targets = targets;
  return config;
}

class Peft : public testing::Test {
 protected:
  std::string written(const ModelConfig& config) {
    const std::string path = folder_ / ("adapter" + std::to_string(++count_));
    export_peft(exported(*filled_model(config), *small_tokenizer()), path);
    return path;
  }
  /// The adapter with one key of its configuration changed.
  std::string with(const char* key, const json& value) {
    const std::string path = written(adapted(small_llama()));
    json config = json::parse(read_file(path + "/adapter_config.json"));
    config[key] = value;
    write_file_atomically(path + "/adapter_config.json", config.dump());
    return path;
  }
  static std::string names(const ModelConfig& config) {
    std::string text;
    for (const LayoutTensor& tensor : peft_tensors(config, "x"))
      text += fmt::format("{} [{}, {}]\n", tensor.name, tensor.shape[0], tensor.shape[1]);
    return text;
  }
  TemporaryFolder folder_;
  int count_ = 0;
};

// The names and shapes that peft itself gives (docs/formats/peft.md).
TEST_F(Peft, NamesAndShapes) {
  ModelConfig gpt2 = adapted(small_gpt2(), "c_attn,mlp.c_proj");
  gpt2.layers = 1;
  EXPECT_EQ(names(gpt2),
            "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight [2, 4]\n"
            "base_model.model.transformer.h.0.attn.c_attn.lora_B.weight [12, 2]\n"
            "base_model.model.transformer.h.0.mlp.c_proj.lora_A.weight [2, 6]\n"
            "base_model.model.transformer.h.0.mlp.c_proj.lora_B.weight [4, 2]\n");
  ModelConfig llama = adapted(small_llama());
  llama.layers = 1;
  EXPECT_EQ(names(llama),
            "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight [2, 8]\n"
            "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight [8, 2]\n"
            "base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight [2, 8]\n"
            "base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight [4, 2]\n");
  EXPECT_THAT(refusal_of([] { peft_tensors(adapted(small_gpt2(), "W_Q"), "runs/x"); }),
              HasSubstr("runs/x: blocks.0.attention.W_Q is adapted apart"));
}

TEST_F(Peft, ConfigIsWhatPeftNeeds) {
  const json gpt2 = json::parse(read_file(written(adapted(small_gpt2(), "c_proj")) + "/adapter_config.json"));
  EXPECT_EQ(gpt2["peft_type"], "LORA");
  EXPECT_EQ(gpt2["r"], 2);
  EXPECT_EQ(gpt2["lora_alpha"], 6);
  EXPECT_EQ(gpt2["fan_in_fan_out"], true);
  EXPECT_EQ(gpt2["bias"], "none");
  EXPECT_EQ(gpt2["task_type"], "CAUSAL_LM");
  EXPECT_EQ(gpt2["target_modules"], (json{"attn.c_proj", "mlp.c_proj"}));
  const json llama = json::parse(read_file(written(adapted(small_llama())) + "/adapter_config.json"));
  EXPECT_EQ(llama["fan_in_fan_out"], false);
  EXPECT_EQ(llama["target_modules"], (json{"q_proj", "v_proj"}));
}

// Rows of an interleaved rotary model stand in the file as its base's do, and come back in their order.
TEST_F(Peft, NumbersThatAreNoneAreRefused) {
  const std::string path = written(adapted(small_llama())), weights = path + "/adapter_model.safetensors";
  std::string bytes = read_file(weights);
  for (size_t i = 0; i < 4; ++i) bytes[bytes.size() - 4 + i] = "\0\0\x80\x7f"[i];  // the last is infinite
  write_file_atomically(weights, bytes);
  const std::string told = refusal_of([&] { PeftAdapter adapter(path); });
  EXPECT_TRUE(told.starts_with(weights + ": tensor 'base_model.model.")) << told;
  EXPECT_NE(told.find("' holds infinities (1 of "), std::string::npos) << told;
  write_file_atomically(path + "/adapter_config.json", "{\"r\": 1e999}");
  EXPECT_EQ(refusal_of([&] { PeftAdapter adapter(path); }),
            path + "/adapter_config.json: holds a number beyond the range of a double: '1e999'");
}

TEST_F(Peft, ComesBackBitForBit) {
  ModelConfig turned = adapted(small_llama(), "q_proj,k_proj,down_proj,gate_proj");
  turned.rope_pairing = "interleaved";
  for (const ModelConfig& config :
       {adapted(small_llama()), adapted(small_gpt2(), "c_attn,c_fc,c_proj"), turned}) {
    const auto model = filled_model(config), back = make_model(config, DType::f32);
    const PeftAdapter adapter(written(config));
    ModelConfig base = config;
    base.lora = {};
    const LoraSettings read = adapter.settings(base);
    EXPECT_EQ(read.rank, 2);
    EXPECT_EQ(read.alpha, 6);
    base.lora = read;
    EXPECT_EQ(names(base), names(config));
    adapter.copy_to(base, back->parameters());
    for (int i = 0; i < model->parameters().size(); ++i) {
      if (!is_lora(model->parameters().info(i))) continue;
      const auto a = model->parameters().value(i).span<float>(),
                 b = back->parameters().value(i).span<float>();
      for (size_t n = 0; n < a.size(); ++n) ASSERT_EQ(a[n], b[n]) << model->parameters().info(i).name;
    }
  }
}

TEST_F(Peft, IsTheOneThatARunWasBegunFrom) {
  const PeftAdapter adapter(written(adapted(small_llama())));
  LoraSettings lora = adapter.settings(small_llama());
  EXPECT_EQ(lora.adapter_sha256.size(), 64u);
  adapter.require_of(lora);
  lora.adapter_sha256.back() = 'x';
  EXPECT_THAT(refusal_of([&] { adapter.require_of(lora); }),
              HasSubstr("the run was begun from " + lora.adapter_sha256));
}

TEST_F(Peft, WhatIsNotComputedIsRefusedByKeyAndValue) {
  struct Case {
    const char* key;
    json value;
    const char* needed;
  };
  const std::vector<Case> cases = {{"peft_type", "IA3", "\"LORA\""},
                                   {"peft_type", json(), "\"LORA\""},
                                   {"task_type", "SEQ_CLS", "\"CAUSAL_LM\""},
                                   {"bias", "all", "\"none\""},
                                   {"bias", "lora_only", "\"none\""},
                                   {"use_rslora", true, "false"},
                                   {"use_dora", true, "false"},
                                   {"use_qalora", true, "false"},
                                   {"lora_bias", true, "false"},
                                   {"modules_to_save", {"lm_head"}, "null"},
                                   {"rank_pattern", {{"q_proj", 4}}, "{}"},
                                   {"alpha_pattern", {{"q_proj", 4}}, "{}"},
                                   {"layers_to_transform", 0, "null"},
                                   {"layers_to_transform", {0, 1}, "null"},
                                   {"layers_pattern", "layers", "null"},
                                   {"layer_replication", {{0, 1}}, "null"},
                                   {"target_parameters", {"w"}, "null"},
                                   {"trainable_token_indices", {1}, "null"},
                                   {"exclude_modules", {"v_proj"}, "null"},
                                   {"exclude_modules", ".*v_proj", "null"},
                                   {"use_bdlora", {{"nblocks", 2}}, "null"},
                                   {"alora_invocation_tokens", {1, 2}, "null"},
                                   {"arrow_config", {{"top_k", 2}}, "null"},
                                   {"kasa_config", {{"beta", 1.0}}, "null"},
                                   {"monteclora_config", {{"n", 4}}, "null"},
                                   {"velora_config", {{"groups", 2}}, "null"}};
  for (const auto& [key, value, needed] : cases) {
    const std::string path = with(key, value);
    EXPECT_EQ(refusal_of([&] { PeftAdapter{path}; }),
              fmt::format("{}/adapter_config.json: tril does not compute this adapter: {} is {} (needs {})",
                          path, key, value.dump(), needed));
  }
  for (const auto& [key, value, needed] : cases) {  // without them nothing is asked for
    if (std::string(key) == "peft_type") continue;
    for (const json& nothing : {json(), json(false), json::array(), json::object()})
      EXPECT_EQ(refusal_of([&] { PeftAdapter{with(key, nothing)}; }), "") << key << " " << nothing;
  }
  EXPECT_THAT(refusal_of([&] { PeftAdapter{with("target_modules", ".*_proj")}; }),
              HasSubstr("target_modules is \".*_proj\"; a list"));
  for (const json& init : {json("pissa"), json("pissa_niter_16"), json("olora"), json("corda"), json("loftq"),
                           json("lora_ga"), json(1)})
    EXPECT_THAT(refusal_of([&] { PeftAdapter{with("init_lora_weights", init)}; }),
                HasSubstr("init_lora_weights is " + init.dump() + " (needs true, false, null, "));
  for (const json& init :
       {json(true), json(false), json(), json("gaussian"), json("orthogonal"), json("eva")})
    EXPECT_EQ(refusal_of([&] { PeftAdapter{with("init_lora_weights", init)}; }), "") << init;
  for (const json& rank : {json(0), json(-3), json(2.5), json("2"), json()})
    EXPECT_THAT(refusal_of([&] { PeftAdapter{with("r", rank)}; }), HasSubstr("r is ")) << rank;
  EXPECT_THAT(refusal_of([&] {
                PeftAdapter{with("target_modules", {"q_proj", ""})};
              }),
              HasSubstr("a list of layers' names"));
  for (const json& dropout : {json("x"), json(-0.1), json(1), json(), json(1e300), json(true)})
    EXPECT_THAT(refusal_of([&] { PeftAdapter{with("lora_dropout", dropout)}; }),
                HasSubstr("lora_dropout is "))
        << dropout;
  for (const json& alpha : {json(0), json(-1.0), json("NaN"), json()})
    EXPECT_THAT(refusal_of([&] { PeftAdapter{with("lora_alpha", alpha)}; }), HasSubstr("lora_alpha is "))
        << alpha;
  EXPECT_THAT(refusal_of([&] { PeftAdapter{folder_ / "none"}; }), HasSubstr("holds no adapter_config.json"));
  const std::string plain = written(adapted(small_llama()));
  write_file_atomically(plain + "/adapter_config.json", "[]");
  EXPECT_THAT(refusal_of([&] { PeftAdapter{plain}; }), HasSubstr("is no JSON object"));
  EXPECT_THAT(refusal_of([&] { PeftAdapter{with("target_modules", {"q_porj"})}.settings(small_llama()); }),
              HasSubstr("'q_porj' is no layer of this model"));
}

// What a later release of peft adds and fills in may change the adapter; what it leaves empty does not.
TEST_F(Peft, AKeyThatIsNotKnownIsToldWhereItSaysSomething) {
  const auto told = [&](const char* key, const json& value) {
    testing::internal::CaptureStderr();
    PeftAdapter{with(key, value)};
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told("zlora_config", {{"z", 3}}),
              HasSubstr("the key 'zlora_config' = {\"z\":3} is not known to tril"));
  for (const json& nothing : {json(), json(false), json::array(), json::object(), json("")})
    EXPECT_EQ(told("zlora_config", nothing), "") << nothing;
  for (const char* key :
       {"peft_version", "base_model_name_or_path", "revision", "eva_config", "loftq_config"})
    EXPECT_EQ(told(key, "x"), "") << key;
}

TEST_F(Peft, AnAdapterOfAnotherBaseIsToldWithEveryTensor) {
  const PeftAdapter adapter(written(adapted(small_llama(), "q_proj,v_proj")));
  ModelConfig wide = small_llama();
  wide.d_model = 16, wide.layers = 3;
  wide.lora = adapter.settings(wide);
  const auto model = make_model(wide, DType::f32);
  const std::string told = refusal_of([&] { adapter.copy_to(wide, model->parameters()); });
  EXPECT_THAT(told, HasSubstr("missing: 'base_model.model.model.layers.2.self_attn.q_proj.lora_A.weight'"));
  EXPECT_THAT(told,
              HasSubstr("'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight' is [2, 8], needs "
                        "[2, 16]"));
  EXPECT_THAT(
      told, HasSubstr("'base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight' is [4, 2], needs [8, "
                      "2]"));
  EXPECT_THAT(told, HasSubstr("it is an adapter of another base model"));
}

}  // namespace
}  // namespace tril
