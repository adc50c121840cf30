// Small models and tokenizers to send out and bring back in tests. What it leaves out: other programs'
// numbers (tests/clients).
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "tril/base/error.h"
#include "tril/formats/export_model.h"
#include "tril/model/registry.h"
#include "tril/text/bpe_train.h"

namespace tril {

inline ModelConfig small_gpt2(int64_t vocab_size = 7) {
  ModelConfig m;
  m.family = "decoder";
  m.d_model = 4;
  m.heads = m.kv_heads = 2;
  m.hidden = 6;
  m.layers = 2;
  m.context = 5;
  m.position = "learned";
  m.activation = "gelu_tanh";
  m.bias = m.attention_bias = m.tied = true;
  m.vocab_size = vocab_size;
  return m;
}

inline ModelConfig small_llama(int64_t vocab_size = 7) {
  ModelConfig m = small_gpt2(vocab_size);
  m.d_model = 8;
  m.kv_heads = 1;
  m.norm = "rms";
  m.position = "rotary";
  m.activation = "swiglu";
  m.bias = m.attention_bias = m.tied = false;
  return m;
}

/// Weights that are all different, of the size of 1.
inline std::unique_ptr<Model> filled_model(const ModelConfig& config) {
  std::unique_ptr<Model> model = make_model(config, DType::f32);
  int n = 0;
  for (int i = 0; i < model->parameters().size(); ++i)
    for (float& value : model->parameters().value(i).span<float>()) value = std::sin(static_cast<float>(++n));
  return model;
}

/// Byte-level BPE with GPT-2's or GPT-4's pattern and an end token, 270 ids.
inline std::shared_ptr<const BpeTokenizer> small_tokenizer(SplitPattern pattern = SplitPattern::kGpt2) {
  BpeTrainer trainer({.vocab_size = 270, .pattern = pattern});
  trainer.add("the cat and the hat sat; that is the thing that they had then");
  return std::make_shared<const BpeTokenizer>(trainer.train());
}

inline ExportedModel exported(const Model& model, const Tokenizer& tokenizer) {
  EndTokens ends;
  if (const auto end = tokenizer.eos()) ends.ends = {*end};
  return {"runs/x", model, tokenizer, ends};
}

inline void expect_same_weights(const Model& a, const Model& b) {
  ASSERT_EQ(a.parameters().size(), b.parameters().size());
  for (int i = 0; i < a.parameters().size(); ++i) {
    const auto left = a.parameters().value(i).span<float>(), right = b.parameters().value(i).span<float>();
    ASSERT_EQ(left.size(), right.size()) << a.parameters().info(i).name;
    for (size_t n = 0; n < left.size(); ++n)
      ASSERT_EQ(left[n], right[n]) << a.parameters().info(i).name << " " << n;
  }
}

/// The text of the Refusal that `body` throws; "" where it throws none.
template <class Body>
std::string refusal_of(const Body& body) {
  try {
    body();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

}  // namespace tril
