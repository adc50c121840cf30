// Writing a model for other programs: a Hugging Face folder, GGUF, safetensors, npz. What it leaves out: runs
// (cli/export.cc opens them), llama2.c's file (llama2c.h), nanoGPT's names (nanogpt.h).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tril/base/file.h"
#include "tril/formats/hf_config.h"
#include "tril/formats/safetensors.h"
#include "tril/model/model.h"
#include "tril/text/tokenizer.h"

namespace tril {

/// What is written: all of it stays the caller's.
struct ExportedModel {
  std::string name;  // the run's, for errors and general.name
  const Model& model;
  const Tokenizer& tokenizer;
  EndTokens ends;
};

struct Exported {
  int64_t tensors = 0;
  uint64_t bytes = 0;
  std::string architecture;  // "gpt2", "llama"; the family where the format has none
};

/// Throws Refusal that names the first tensor with a NaN or an infinity. Whatever a model is written as, such
/// weights would only be found by whoever computes with them.
void require_finite(const Model& model, const std::string& name);

/// The layout of Hugging Face (or of GGUF) that a model has its counterpart in. Throws Refusal that names the
/// switches in the way.
Layout hf_layout(const ModelConfig& config, const std::string& name);
Layout gguf_layout(const ModelConfig& config, const std::string& name);

/// A folder with config.json, model.safetensors (f32), tokenizer.json, tokenizer_config.json and
/// generation_config.json; it appears whole or not at all. Throws Refusal where it holds anything already.
Exported export_hf(const ExportedModel& model, const std::string& folder);

/// A GGUF file. Matrices are of `type` (F32, F16 or Q8_0); vectors and position rows stay F32, and a matrix
/// whose rows are no whole blocks becomes F16. Throws Refusal where a number does not fit the type.
Exported export_gguf(const ExportedModel& model, const std::string& file, std::string_view type);

/// The parameters under their own names (docs/window-models.md, docs/decoder.md).
Exported export_safetensors(const ExportedModel& model, const std::string& file);
Exported export_npz(const ExportedModel& model, const std::string& file);

/// The tensors of a layout as safetensors, one at a time. The FileWriter is left open.
Exported write_tensors(FileWriter& file, const Parameters& parameters, std::span<const LayoutTensor> tensors,
                       const Metadata& metadata);
/// All those of a model.
Exported write_layout(FileWriter& file, const ExportedModel& model, Layout layout, const Metadata& metadata);

}  // namespace tril
