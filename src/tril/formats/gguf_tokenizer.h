// The tokenizer in a GGUF file: byte-level BPE as tril's own, and the way back. docs/formats/gguf.md. What it
// leaves out: SentencePiece and WordPiece vocabularies, refused by tokenizer.ggml.model.
#pragma once
#include <memory>
#include <string>

#include "tril/formats/gguf.h"
#include "tril/formats/gguf_writer.h"
#include "tril/formats/hf_config.h"
#include "tril/text/tokenizer.h"

namespace tril {

struct GgufTokenizer {
  std::shared_ptr<const Tokenizer> tokenizer;
  EndTokens ends;  // the end token, and those that chat files end a turn with
};

/// Reads tokenizer.ggml.*. Throws Refusal that names the key: another kind of vocabulary, an unknown
/// pre-tokenizer, arrays of other types or lengths, a merge that the vocabulary does not hold.
GgufTokenizer read_gguf_tokenizer(const GgufFile& file);

/// Adds tokenizer.ggml.* to a file's keys. `name` is the model, for errors. Throws Refusal with the reason
/// where llama.cpp has no vocabulary that gives the same ids: a word tokenizer, characters beyond ASCII, a
/// split rule it has no name for.
void write_gguf_tokenizer(GgufWriter& keys, const Tokenizer& tokenizer, const EndTokens& ends,
                          const std::string& name);

}  // namespace tril
