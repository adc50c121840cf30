// tiktoken's files: a line for each token, its bytes in base64 and its rank, which is its id. The file holds
// neither the split pattern nor the special tokens; tril knows them for OpenAI's files by their names. What
// it leaves out: writing such files.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tril/text/bpe.h"

namespace tril {

/// The pattern and special tokens of an encoding: "gpt2", "r50k_base", "p50k_base", "cl100k_base",
/// "o200k_base".
struct TiktokenEncoding {
  PreTokenizer pre_tokenizer;
  std::string pre_tokenizer_json;
  std::vector<AddedToken> added;
  std::optional<int32_t> eos;
};

/// The encoding of that name; "gpt4" is cl100k_base's pattern and "gpt2" GPT-2's, without special tokens
/// unless `tokens` ranks leave room for them. Throws Refusal with the known names.
TiktokenEncoding tiktoken_encoding(std::string_view name, size_t tokens);

/// Reads a file's bytes; `name` stands for it in errors. `encoding` names the pattern; "" takes it from the
/// file's name ("cl100k_base.tiktoken"). Throws Refusal with the line that is wrong.
std::shared_ptr<const BpeTokenizer> parse_tiktoken(std::string_view bytes, const std::string& name,
                                                   std::string_view encoding = "");

}  // namespace tril
