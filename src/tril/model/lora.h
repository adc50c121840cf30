// LoRA (Hu et al. 2021): beside a weight W [out, in] that stays as it is, a product of two thin matrices
// learns.
//   y = x Wᵀ + b + (alpha / rank) (x Aᵀ) Bᵀ,   A [rank, in], B [out, rank]
// A is drawn and B is zero, so that a fresh adapter changes nothing. What it leaves out: the op itself
// (ops/lora_linear.h), and PEFT's files (formats/peft.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tril/model/model.h"

namespace tril {

/// One pair A, B: parameters NAME.lora_A and NAME.lora_B. A pair of several layers (GPT-2's c_attn) has one A
/// for all of them, and their rows of B one below the other.
struct LoraAdapter {
  struct Layer {
    std::string name;  // "blocks.0.attention.W_Q", whose weight is NAME.weight
    int64_t rows = 0;  // out
  };
  std::string name;
  int64_t in = 0, out = 0;
  std::vector<Layer> layers;
};

/// The adapters of a model, block by block, in the order of its layers; none where lora.rank is 0. The
/// configuration must be one that lora_fault() has nothing against.
std::vector<LoraAdapter> lora_adapters(const ModelConfig& config);

/// What is wrong with lora.rank and lora.targets: an unknown name with the nearest one, a layer that two of
/// them adapt, a rank above a layer's smaller side, another family than the decoder. "" where nothing is.
std::string lora_fault(const ModelConfig& config);

/// lora.targets where it is empty: "q_proj,v_proj" for the Llama family, else "c_attn" where Q, K and V are
/// of one layer in GPT-2, else "W_Q,W_V".
std::string default_lora_targets(const ModelConfig& config);

/// The name in lora.targets of a layer by its path: the longest of the known names that the path ends in
/// ("c_attn" of "transformer.h.0.attn.c_attn"); the path itself where it ends in none.
std::string lora_target_of(const ModelConfig& config, const std::string& path);

/// alpha / rank.
double lora_scale(const LoraSettings& lora);

/// True for NAME.lora_A and NAME.lora_B.
bool is_lora(const ParameterInfo& parameter);

/// Draws every A as PEFT does, kaiming_uniform(a = √5), which is uniform ±1/√in; sets every B to zero.
void draw_lora(Parameters& parameters, TorchGenerator& random);
/// The same with any generator's draw of a matrix.
void draw_lora(Parameters& parameters, const std::function<void(const Tensor& a)>& draw);

/// The same model without adapters: W + (alpha / rank) B A, summed in double.
std::unique_ptr<Model> merge_lora(const Model& model);

}  // namespace tril
