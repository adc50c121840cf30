// The parts of a BPE tokenizer.json around its model: pre_tokenizer, normalizer, decoder, post_processor.
// Each type that tril has is read exactly; every other is refused by its name, never passed over.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "tril/text/pre_tokenizer.h"

namespace tril {

/// ByteLevel, alone or as the last of a Sequence behind Split and Digits. Throws Refusal for any other, and
/// where ByteLevel is missing.
PreTokenizer read_pre_tokenizer(const nlohmann::json& part, const std::string& name, bool& add_prefix_space);

/// Throws Refusal unless there is no normalizer (null, or a Sequence of none).
void refuse_unless_known_normalizer(const nlohmann::json& part, const std::string& name);
/// Throws Refusal unless the decoder is null or ByteLevel (alone, or in a Sequence with Fuse).
void refuse_unless_known_decoder(const nlohmann::json& part, const std::string& name);

/// The tokens that are put before and behind a text ("" for none): null, ByteLevel, TemplateProcessing,
/// BertProcessing, RobertaProcessing, or a Sequence of these. Throws Refusal for any other.
std::pair<std::string, std::string> read_post_processor(const nlohmann::json& part, const std::string& name);

/// The pre_tokenizer part for one pattern behind which bytes are written in the byte alphabet.
std::string pre_tokenizer_json(SplitPattern pattern);
/// The same by the name that a GGUF file has in tokenizer.ggml.pre: gpt-2, smollm, llama-bpe, qwen2, gpt-4o,
/// and names that mean the same as one of these. Throws Refusal with the known names.
std::string named_pre_tokenizer_json(std::string_view name);
/// The same for an expression whose matches are pieces.
std::string split_json(std::string_view source);
/// {"type": "ByteLevel", …}: the decoder and the post_processor of byte-level BPE.
std::string byte_level_json();

}  // namespace tril
