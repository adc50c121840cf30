// A model that another program wrote: a Hugging Face folder, GGUF, llama2.c's file, nanoGPT's weights.
// Opened, it is a configuration, a tokenizer and tensors mapped from the disk; weights are copied only when a
// model of tril's takes them. What it leaves out: runs (train/), and writing (export_model.h).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tril/formats/foreign_tensors.h"
#include "tril/formats/hf_config.h"
#include "tril/model/model.h"
#include "tril/text/tokenizer.h"

namespace tril {

struct ForeignModel {
  std::string path;
  Layout layout = Layout::kHfGpt2;
  ModelConfig config;  // vocab_size is the number of rows in the file
  EndTokens ends;
  std::shared_ptr<const Tokenizer> tokenizer;  // null where the file brings none
  ForeignTensors tensors;
  std::vector<LayoutTensor> layout_tensors;  // what `tensors` was held against

  /// Bytes of all weights in f32: what training or an import needs in memory at least.
  uint64_t f32_bytes() const;
  /// Copies the weights into the parameters of make_model(config, …).
  void copy_to(Parameters& parameters) const { tensors.copy_to(layout_tensors, parameters); }
};

/// True for what open_foreign_model can open by its name: a folder with a config.json, a .gguf file,
/// llama2.c's .bin, nanoGPT's .safetensors.
bool is_foreign_model(const std::string& path);

/// Opens, checks and describes; nothing is copied. `tokenizer` is a file that stands in for the model's own.
/// Throws Refusal that names the file and what is wrong: every missing, extra and misshapen tensor at once,
/// the key and value of a configuration that tril does not compute, a tokenizer with more tokens than the
/// model has rows, tied weights that differ.
ForeignModel open_foreign_model(const std::string& path,
                                const std::optional<std::string>& tokenizer = std::nullopt);

/// The model itself, in f32 or f64, cut to the tokenizer's size where the file pads its vocabulary (told in a
/// note): rows that stand for no token can then never be drawn. Throws Refusal where `memory` bytes do not
/// hold it, with both numbers.
std::unique_ptr<Model> load_foreign_model(const ForeignModel& foreign, DType dtype, int64_t memory);

}  // namespace tril
