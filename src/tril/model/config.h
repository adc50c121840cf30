// Settings of a model: the [model] and [lora] sections of a configuration (design, sections 4 and 7). Plain
// values; config.cc fills and checks them. 0 means "the family's default", which resolve() replaces.
#pragma once
#include <cstdint>
#include <string>

namespace tril {

/// Low-rank adapters (model/lora.h).
struct LoraSettings {
  int64_t rank = 0;  // 0 = off
  double alpha = 16;
  std::string targets;         // names of layers between commas; "" = the attention's queries and values
  std::string adapter;         // a folder in PEFT's format whose adapter is the first one; "" = one is drawn
  std::string adapter_sha256;  // of its weights
};

struct ModelConfig {
  std::string family = "window_attention";  // window_mlp | window_attention | decoder
  int64_t d_model = 48;
  int64_t heads = 1;
  int64_t kv_heads = 0;  // 0 = heads
  int64_t d_k = 0;       // total over heads; 0 = d_model
  int64_t d_v = 0;       // total over heads; 0 = d_model
  int64_t hidden = 160;  // width of the feed-forward layer
  int64_t layers = 1;
  int64_t context = 12;
  std::string norm = "layer";      // layer | rms | none
  std::string norm_place = "pre";  // pre | post
  bool norm_gain = true;
  bool embedding_norm = false;
  bool final_norm = true;
  std::string position = "learned";  // learned | sinusoidal | rotary | none
  std::string activation = "relu";   // relu | relu2 | gelu | gelu_tanh | swiglu
  bool bias = false;                 // of the feed-forward layers and of layer norms
  bool attention_bias = false;       // of W_Q, W_K, W_V, W_O
  bool head_bias = false;            // of the vocabulary head
  bool tied = false;
  double dropout = 0;
  std::string mask = "causal";  // causal | none
  bool qk_norm = false;
  double softcap = 0;  // 0 = off
  double norm_epsilon = 1e-5;
  double rope_theta = 10000;
  std::string rope_pairing = "half";  // half (NeoX, Llama in Hugging Face) | interleaved
  bool zero_init = false;
  std::string init = "torch";  // torch | gpt2 | microgpt
  LoraSettings lora;           // the section [lora], no key of [model]
  int64_t vocab_size = 0;      // not a key of the file: the tokenizer's size, padded to nothing
};

}  // namespace tril
