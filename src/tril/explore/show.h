// tril show: what a file or folder holds. Every byte is read and checked: safetensors, GGUF, npz,
// tokenizer.json, config.toml, a Hugging Face config.json or folder, llama2.c's and token ids' .bin, a
// checkpoint, a run. What it leaves out: other files, which are refused by their kind.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tril/formats/tensor_range.h"

namespace tril {

struct ShownTensor {
  std::string name, dtype;     // "F32"
  std::vector<int64_t> shape;  // outermost first
  bool has_range = false;      // false where no element is finite
  double min = 0, max = 0;     // of the finite elements
};

struct Shown {
  std::string path;
  std::string kind;                     // "safetensors", "tokenizer", "config", "checkpoint", "run", …
  std::vector<ShownTensor> tensors{};   // in the order of the file
  std::string metadata = "{}";          // a JSON object
  std::vector<std::string> warnings{};  // NaN, infinity, gaps in ids, what is damaged but not needed
};

/// Appends a tensor with its range, and a warning where it holds NaN or infinities.
void add_tensor(Shown& shown, const std::string& name, std::string_view type,
                const std::vector<int64_t>& shape, const TensorRange& range);

/// The same for each tensor of a file.
void add_tensors(Shown& shown, const std::vector<StoredTensor>& tensors, const std::string& prefix = "");

/// Throws Refusal where the file can't be read, is of no known kind, or is broken.
Shown show(const std::string& path);

/// {kind, tensors[{name, dtype, shape, min, max}], metadata}; min and max are null where there is none.
std::string shown_as_json(const Shown& shown);
/// The same as lines of text: kind, metadata, a table of tensors.
std::string shown_as_text(const Shown& shown);

}  // namespace tril
