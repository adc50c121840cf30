#include "tril/model/lora.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tril/model/decoder_testing.h"
#include "tril/model/registry.h"

namespace tril {
namespace {

using testing::HasSubstr;

ModelConfig llama_like() {
  ModelConfig m;
  m.family = "decoder";
  m.d_model = 8, m.heads = 4, m.kv_heads = 2, m.hidden = 12, m.layers = 2, m.context = 6, m.vocab_size = 11;
  m.norm = "rms", m.position = "rotary", m.activation = "swiglu";
  m.lora.rank = 2, m.lora.alpha = 6;
  return m;
}

ModelConfig gpt2_like() {
  ModelConfig m = llama_like();
  m.norm = "layer", m.position = "learned", m.activation = "gelu_tanh", m.kv_heads = 4;
  m.bias = m.attention_bias = m.tied = true;
  return m;
}

std::unique_ptr<Model> drawn(const ModelConfig& config) {
  auto model = make_model(config, DType::f32);
  TorchGenerator random(7);
  model->initialize(random);
  return model;
}

std::vector<float> logits(const Model& model) {
  const std::vector<int32_t> ids = {1, 5, 9, 2, 0, 7};
  Tape tape({.record = false});
  const Var y = model.forward(tape, {{1, 6}, DType::i32, const_cast<int32_t*>(ids.data())}, Rows::all);
  return {y.v<float>(), y.v<float>() + y.count()};
}

std::string names(const std::vector<LoraAdapter>& all) {
  std::string text;
  for (const LoraAdapter& adapter : all) {
    text += adapter.name + "(";
    for (const LoraAdapter::Layer& layer : adapter.layers)
      text += layer.name.substr(layer.name.rfind('.') + 1) + " ";
    text += ") ";
  }
  return text;
}

TEST(Lora, PeftsOwnDefaultsAreTheDefaults) {
  EXPECT_EQ(default_lora_targets(llama_like()), "q_proj,v_proj");
  EXPECT_EQ(default_lora_targets(gpt2_like()), "c_attn");
  EXPECT_EQ(names(lora_adapters(llama_like())),
            "blocks.0.attention.W_Q(W_Q ) blocks.0.attention.W_V(W_V ) blocks.1.attention.W_Q(W_Q ) "
            "blocks.1.attention.W_V(W_V ) ");
  EXPECT_EQ(names(lora_adapters(gpt2_like())),
            "blocks.0.attention.qkv(W_Q W_K W_V ) blocks.1.attention.qkv(W_Q W_K W_V ) ");
  ModelConfig both = gpt2_like();
  both.lora.targets = "c_proj, c_fc";
  EXPECT_EQ(names(lora_adapters(both)),
            "blocks.0.attention.W_O(W_O ) blocks.0.mlp.up(up ) blocks.0.mlp.down(down ) "
            "blocks.1.attention.W_O(W_O ) blocks.1.mlp.up(up ) blocks.1.mlp.down(down ) ");
}

TEST(Lora, WhatDoesNotFitIsToldByName) {
  ModelConfig m = llama_like();
  m.lora.targets = "q_porj";
  EXPECT_THAT(lora_fault(m),
              HasSubstr("'q_porj' is no layer of this model that takes an adapter; the nearest is "
                        "'q_proj'; there are W_Q, W_K"));
  m.lora.targets = "c_attn";
  EXPECT_THAT(lora_fault(m), HasSubstr("'c_attn' is no layer"));
  m.lora.targets = "q_proj,W_Q";
  EXPECT_EQ(lora_fault(m), "lora.targets \"q_proj,W_Q\" gives attention.W_Q two adapters");
  m.lora.targets = "";
  m.lora.rank = 8;  // values of 2 of 4 heads are 4 wide
  EXPECT_EQ(lora_fault(m), "lora.rank 8 is above 4, the smaller side of attention.W_V [4, 8]");
  m.lora.rank = 4;
  EXPECT_EQ(lora_fault(m), "");
  EXPECT_EQ(lora_target_of(gpt2_like(), "transformer.h.0.attn.c_proj"), "attn.c_proj");
  EXPECT_EQ(lora_target_of(gpt2_like(), "lm_head"), "lm_head");
}

// B is zero at first, so the logits are the base's to the last bit; A's draws follow the base's own.
TEST(Lora, AFreshAdapterChangesNoLogit) {
  for (ModelConfig config : {llama_like(), gpt2_like()}) {
    const auto adapted = drawn(config);
    config.lora = {};
    const auto base = drawn(config);
    EXPECT_EQ(logits(*adapted), logits(*base));
    const Parameters &p = adapted->parameters(), &q = base->parameters();
    for (int i = 0; i < q.size(); ++i) EXPECT_EQ(p.info(i).name, q.info(i).name);
    bool drew = false;
    for (int i = q.size(); i < p.size(); ++i) {
      EXPECT_TRUE(is_lora(p.info(i)));
      for (const float number : p.value(i).span<float>()) {
        EXPECT_LE(std::fabs(number), 1 / std::sqrt(8.0));
        drew |= number != 0;
      }
    }
    EXPECT_TRUE(drew);
  }
}

// The two thin products beside W, and W + s B A, are one map.
TEST(Lora, MergedIsTheSameModel) {
  for (ModelConfig config : {llama_like(), gpt2_like()}) {
    config.lora.targets = config.norm == "rms" ? "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
                                               : "c_attn,c_proj,c_fc";
    const auto adapted = drawn(config);
    Parameters& p = adapted->parameters();
    for (int i = 0; i < p.size(); ++i)
      if (p.info(i).name.ends_with(".lora_B"))
        for (int64_t n = 0; n < p.value(i).count(); ++n)
          p.value(i).as<float>()[n] = 0.1F * static_cast<float>(std::sin(3 * n + i));
    const auto merged = merge_lora(*adapted);
    EXPECT_EQ(merged->config().lora.rank, 0);
    const std::vector<float> a = logits(*adapted), b = logits(*merged);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
    config.lora = {};
    const std::vector<float> plain = logits(*drawn(config));
    double apart = 0;
    for (size_t i = 0; i < a.size(); ++i) apart = std::max<double>(apart, std::fabs(a[i] - plain[i]));
    EXPECT_GT(apart, 1e-3);
  }
}

}  // namespace
}  // namespace tril
