// The tokens of a text, listed for a reader: what `tril data tokenize` shows.
// It leaves out windows and the split: the text is read from its first character to its last.
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tril/data/settings.h"
#include "tril/text/tokenizer.h"

namespace tril {

struct TokenListing {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::string name;  // of the source
  std::vector<int32_t> ids;
  std::vector<UnknownToken> unknown;  // positions count ids from 0 over the whole listing
  int64_t text_bytes = 0;             // as the tokenizer sees the text
};

/// Reads the source that the settings name and tokenizes all of it. Without a tokenizer: the one that
/// settings.tokenizer says, its vocabulary made from the whole text. Throws Refusal as build_corpus does.
TokenListing list_tokens(const DataSettings& settings, std::shared_ptr<const Tokenizer> tokenizer = nullptr);

/// {tokenizer, fingerprint, vocab_size, count, text_bytes, tokens[{id,text}], unknown[{text,position}]}.
nlohmann::json listing_json(const TokenListing& listing);

/// Lines "position  id  token" for the first `most` tokens (0: all), then a line of totals. Control
/// characters are shown as escapes.
std::string listing_text(const TokenListing& listing, int64_t most);

}  // namespace tril
