// Reads a tokenizer.json of any kind tril knows: word, char or byte-level BPE.
// It leaves out vocab.json + merges.txt and tiktoken files, which bpe.h reads.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "tril/text/tokenizer.h"

namespace tril {

/// Reads a tokenizer.json, or the one inside a run folder. Throws Refusal that names the file and what is
/// wrong: not JSON, not UTF-8, another kind of file, a model, normalizer or pre-tokenizer that tril does not
/// have, an id that is negative, no integer, missing or used twice.
std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path);

/// The same from the bytes of a file; `name` stands for it in errors.
std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view json, const std::string& name);

}  // namespace tril
