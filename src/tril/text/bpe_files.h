// GPT-2's two files: vocab.json (tokens and ids) and merges.txt (a merge a line). They say neither the
// pattern nor the special tokens: it is GPT-2's pattern, and <|endoftext|> is the end token where the
// vocabulary has it. What it leaves out: tokenizer.json, which holds all of it (tokenizer_json_bpe).
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "tril/text/bpe.h"

namespace tril {

/// Reads the two files' bytes; the names stand for them in errors. Throws Refusal with the line or token.
std::shared_ptr<const BpeTokenizer> parse_vocab_and_merges(std::string_view vocab,
                                                           const std::string& vocab_name,
                                                           std::string_view merges,
                                                           const std::string& merges_name);

}  // namespace tril
