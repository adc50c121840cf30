// tokenizer.json of byte-level BPE, as Hugging Face's `tokenizers` reads and writes it: which parts tril
// knows, and exact ids or a refusal by name for the rest. What it leaves out: parsing JSON and WordLevel
// files (load_tokenizer), truncation and padding, which are the caller's business.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/text/bpe.h"

namespace tril {

/// Reads a parsed tokenizer.json whose model is BPE; `name` stands for the file in errors. Throws Refusal
/// that names the part that is wrong or that tril does not have.
std::shared_ptr<const BpeTokenizer> bpe_from_json(const nlohmann::json& file, const std::string& name);

/// The bytes of tokenizer.json. Merges are written as "a b", or all as ["a", "b"] where a part holds a blank.
std::string write_bpe_json(const BpeDefinition& definition);

/// The end token by its name, where a special token has one of <|endoftext|>, <|end_of_text|>, </s>, <eos>.
std::optional<int32_t> named_end_token(const std::vector<AddedToken>& added);

}  // namespace tril
