#include "tril/data/listing.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/table.h"
#include "tril/data/corpus.h"
#include "tril/data/source.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

std::shared_ptr<const Tokenizer> tokenizer_of_the_text(DataSettings settings) {
  const std::string& name = settings.tokenizer;
  if (name != "word" && name != "char" && name != "bpe") return load_tokenizer(name);
  settings.split = "none";
  settings.min_count = 1;
  CorpusOptions options;
  options.announce = false;
  return build_corpus(settings, options).tokenizer;
}

}  // namespace

TokenListing list_tokens(const DataSettings& settings, std::shared_ptr<const Tokenizer> tokenizer) {
  TokenListing listing;
  listing.tokenizer = tokenizer != nullptr ? std::move(tokenizer) : tokenizer_of_the_text(settings);
  const Source source = open_source(settings, listing.tokenizer->kind() == "bpe");
  listing.name = source.name();
  for (const std::string_view piece : source.pieces) {
    const auto before = static_cast<int64_t>(listing.ids.size());
    try {
      const std::vector<int32_t> ids = listing.tokenizer->encode(piece);
      listing.ids.insert(listing.ids.end(), ids.begin(), ids.end());
    } catch (const Refusal& refusal) {
      refuse("{}: {}", listing.name, refusal.what());
    }
    for (UnknownToken& unknown : listing.tokenizer->unknown(piece)) {
      unknown.position += before;
      listing.unknown.push_back(std::move(unknown));
    }
    listing.text_bytes += static_cast<int64_t>(listing.tokenizer->normalized(piece).size());
  }
  return listing;
}

nlohmann::json listing_json(const TokenListing& listing) {
  using Json = nlohmann::json;
  Json tokens = Json::array(), unknown = Json::array();
  for (const int32_t id : listing.ids)
    tokens.push_back({{"id", id}, {"text", listing.tokenizer->token_text(id)}});
  for (const auto& [text, position] : listing.unknown)
    unknown.push_back({{"text", text}, {"position", position}});
  return {{"tokenizer", listing.tokenizer->kind()},
          {"fingerprint", listing.tokenizer->fingerprint()},
          {"vocab_size", listing.tokenizer->vocab_size()},
          {"count", listing.ids.size()},
          {"text_bytes", listing.text_bytes},
          {"tokens", std::move(tokens)},
          {"unknown", std::move(unknown)}};
}

std::string listing_text(const TokenListing& listing, int64_t most) {
  const auto count = static_cast<int64_t>(listing.ids.size());
  const int64_t shown = most > 0 ? std::min(most, count) : count;
  Table table({"position", "id", "token"});
  size_t next_unknown = 0;
  for (int64_t i = 0; i < shown; ++i) {
    const int32_t id = listing.ids[static_cast<size_t>(i)];
    // A JSON string shows blanks and control characters; quotes around every token show where it ends.
    std::string token = nlohmann::json(listing.tokenizer->token_text(id)).dump();
    if (next_unknown < listing.unknown.size() && listing.unknown[next_unknown].position == i) {
      token += "  for " + nlohmann::json(listing.unknown[next_unknown++].text).dump();
    }
    table.row({std::to_string(i), std::to_string(id), token});
  }
  std::string text = table.text();
  if (shown < count) text += fmt::format("… {} more\n", with_commas(count - shown));
  text += fmt::format("{} {} tokens from {} bytes of text, {} unknown; vocabulary of {}\n",
                      with_commas(count), listing.tokenizer->kind(), with_commas(listing.text_bytes),
                      with_commas(static_cast<long long>(listing.unknown.size())),
                      with_commas(listing.tokenizer->vocab_size()));
  return text;
}

}  // namespace tril
