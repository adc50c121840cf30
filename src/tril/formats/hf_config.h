// config.json of Hugging Face folders: what it says of a GPT-2 or a Llama, as tril's configuration, and the
// way back. docs/formats/huggingface.md. What it leaves out: other architectures, scaled rotary positions and
// quantised weights, each refused by its key and value.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tril/formats/weight_layout.h"

namespace tril {

/// Ids that a text begins with and that end generation.
struct EndTokens {
  std::optional<int32_t> begin;
  std::vector<int32_t> ends;

  bool operator==(const EndTokens&) const = default;
};

struct HfConfig {
  Layout layout = Layout::kHfGpt2;
  ModelConfig model;         // vocab_size set
  bool tied_stated = false;  // false: model.tied is the architecture's default
  EndTokens ends;
};

/// A JSON number that is an integer of 64 bits; nullopt for anything else.
std::optional<int64_t> whole_number(const nlohmann::json& value);

/// Reads a parsed config.json; `name` stands for it in errors. Throws Refusal that names the key and value of
/// everything that tril does not compute. Warns of keys it does not know.
HfConfig parse_hf_config(const nlohmann::json& config, const std::string& name);

/// config.json for a model that has a counterpart in `layout`.
nlohmann::ordered_json hf_config_json(const ModelConfig& model, Layout layout, const EndTokens& ends);

/// generation_config.json, and what it says: nullopt where it has no eos_token_id at all.
nlohmann::ordered_json generation_config_json(const EndTokens& ends);
std::optional<EndTokens> parse_generation_config(const nlohmann::json& config, const std::string& name);

}  // namespace tril
