// LoRA adapters in PEFT's format (Hugging Face): a folder with adapter_config.json and
// adapter_model.safetensors. docs/formats/peft.md. What it leaves out: every other method of PEFT, and LoRA's
// variants (rsLoRA, DoRA, ranks that differ from layer to layer, biases), each refused by its key and value.
#pragma once
#include <string>
#include <vector>

#include "tril/formats/export_model.h"
#include "tril/formats/foreign_tensors.h"
#include "tril/model/lora.h"

namespace tril {

/// The tensors of the adapter of a model (config.lora), under PEFT's names for its counterpart in Hugging
/// Face. Throws Refusal where the decoder has none there, and for W_Q, W_K or W_V of a GPT-2 adapted apart,
/// whose c_attn is one layer. `name` is for the errors.
std::vector<LayoutTensor> peft_tensors(const ModelConfig& config, const std::string& name);

/// Writes the adapter of a model alone; the folder appears whole or not at all.
Exported export_peft(const ExportedModel& model, const std::string& folder);

/// An adapter's folder, opened.
class PeftAdapter {
 public:
  /// Reads both files. Throws Refusal for what tril does not compute, by key and value.
  explicit PeftAdapter(const std::string& folder);

  /// Of the file that says rank, alpha and targets.
  std::string settings_path() const;
  /// Rank, alpha and targets of the adapter on this base; `adapter` is the folder, and `adapter_sha256` what
  /// ForeignTensors::sha256() of its weights is. Throws Refusal where the
  /// adapter's layers are not among the model's.
  LoraSettings settings(const ModelConfig& base) const;
  /// Throws Refusal unless it is the one that a resolved configuration was made with.
  void require_of(const LoraSettings& lora) const;
  /// Copies A and B into a model made with those settings. Throws Refusal where it is an adapter of another
  /// base: every missing, extra and misshapen tensor at once. Warns of a dropout that is not applied.
  void copy_to(const ModelConfig& config, Parameters& parameters) const;

 private:
  std::string path_, dropout_;  // lora_dropout as the file has it, where it is not 0
  LoraSettings lora_;
  std::vector<std::string> modules_;
  ForeignTensors tensors_;
};

}  // namespace tril
