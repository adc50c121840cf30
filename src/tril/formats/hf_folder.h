// Hugging Face folders: config.json, model.safetensors or several with an index, tokenizer.json,
// tokenizer_config.json, generation_config.json. docs/formats/huggingface.md. What it leaves out: PyTorch's
// pickled weights, which are refused by name.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tril/formats/foreign_model.h"

namespace tril {

/// Opens a folder; open_foreign_model is what to call.
ForeignModel open_hf_folder(const std::string& path, const std::optional<std::string>& tokenizer);

/// Whether a folder has a config.json and weights beside it, of whatever kind.
bool holds_hf_model(const std::string& path);

/// Whether a file of an index's own folder can have the name: no path, no zero byte, not empty.
bool is_name_beside(std::string_view name);

/// The shards that an index names, each once, in order. Throws Refusal where a name is not one beside
/// the index, a file is missing, or the text is no index.
std::vector<std::string> shards_of_index(const std::string& path);

}  // namespace tril
