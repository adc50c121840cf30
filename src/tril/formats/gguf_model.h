// Models in GGUF files: architectures llama and gpt2, both ways. docs/formats/gguf.md. What it leaves out:
// the container (gguf.h, gguf_writer.h) and the vocabulary (gguf_tokenizer.h).
#pragma once
#include <optional>
#include <string>

#include "tril/formats/foreign_model.h"
#include "tril/formats/gguf_writer.h"

namespace tril {

/// Opens a file; open_foreign_model is what to call.
ForeignModel open_gguf_model(const std::string& path, const std::optional<std::string>& tokenizer);

/// The configuration that the keys tell; every key that tril does not compute is refused by name and value.
ModelConfig gguf_config(const GgufFile& file, Layout& layout);

/// Adds general.* and the architecture's keys.
void write_gguf_config(GgufWriter& keys, const ModelConfig& config, Layout layout, const std::string& name,
                       const GgmlType& type);

}  // namespace tril
