// llama2.c's model files (.bin, its first version): seven 32-bit integers, then f32 weights in a fixed order.
// docs/formats/llama2c.md. What it leaves out: its later versions (with a magic number, int8), and its
// tokenizer.bin, which is of another kind than tril's tokenizers.
#pragma once
#include <optional>
#include <string>

#include "tril/formats/export_model.h"
#include "tril/formats/foreign_model.h"

namespace tril {

/// Opens a file; open_foreign_model is what to call. The tokenizer is `tokenizer`, or a tokenizer.json beside
/// the file. Throws Refusal where the header's numbers don't give the file's size: with both sizes.
ForeignModel open_llama2c(const std::string& path, const std::optional<std::string>& tokenizer);

/// Writes a Llama that run.c computes exactly: no biases, heads of d_model / heads, epsilon 1e-5, theta
/// 10,000. Throws Refusal that names the switches in the way.
Exported export_llama2c(const ExportedModel& model, const std::string& path);

}  // namespace tril
