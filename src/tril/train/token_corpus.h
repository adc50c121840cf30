// A corpus made of a file of token ids (docs/formats/token-bin.md) instead of text: one stream, with the
// tokenizer that the ids belong to. What it leaves out: documents, duplicates and the hash split, which need
// text.
#pragma once
#include <memory>
#include <string>

#include "tril/data/corpus.h"

namespace tril {

/// True for a path that names such a file: it ends in ".bin".
bool is_token_file(const std::string& path);

/// Reads settings.path, the ids checked against the tokenizer: `options.tokenizer`, else the file that
/// settings.tokenizer names. settings.split none: all train; tail or auto: the first int(0.9 n) ids train,
/// the rest is validation. Throws Refusal where no tokenizer is named, for a word tokenizer, for the hash
/// split, and where an id is outside the vocabulary, with its position.
Corpus token_corpus(const DataSettings& settings, const CorpusOptions& options);

}  // namespace tril
