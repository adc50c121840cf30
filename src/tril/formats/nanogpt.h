// nanoGPT's weights as safetensors: the names of its state dict, and its GPTConfig as JSON in the metadata's
// "model_args", so that GPT(GPTConfig(**model_args)) takes them. docs/formats/nanogpt.md. What it leaves out:
// its own ckpt.pt, which is a pickle.
#pragma once
#include <optional>
#include <string>

#include "tril/formats/export_model.h"
#include "tril/formats/foreign_model.h"

namespace tril {

/// Opens a file; open_foreign_model is what to call. The tokenizer is `tokenizer`, or a tokenizer.json beside
/// the file.
ForeignModel open_nanogpt(const std::string& path, const std::optional<std::string>& tokenizer);

/// Throws Refusal that names the switches in the way.
Exported export_nanogpt(const ExportedModel& model, const std::string& path);

}  // namespace tril
