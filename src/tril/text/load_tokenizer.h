// Reads a tokenizer of any kind tril knows: tokenizer.json (word, char or byte-level BPE), vocab.json with
// merges.txt, or a tiktoken file. It leaves out what the kinds are: word_tokenizer.h, char_tokenizer.h and
// bpe.h.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tril/text/tokenizer.h"

namespace tril {

/// Reads a tokenizer.json; vocab.json or merges.txt, whose other half lies beside it; a file NAME.tiktoken;
/// or a folder with tokenizer.json or vocab.json and merges.txt in it. Throws Refusal that names the file and
/// what is wrong: not JSON, not UTF-8, another kind of file, a model, normalizer or pre-tokenizer that tril
/// does not have, an id that is negative, no integer, missing or used twice.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

/// The same from the bytes of a file; `name` stands for it in errors.
std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view json, const std::string& name);

/// JSON from a file's bytes: UTF-8, with or without a byte-order mark, no key twice in one object, not
/// nested deeper than kDeepestJson (base/json_depth.h). Throws Refusal.
nlohmann::json parse_json_file(std::string_view json, const std::string& name);

}  // namespace tril
