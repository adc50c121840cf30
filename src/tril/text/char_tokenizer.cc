#include "tril/text/char_tokenizer.h"

#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/text/tokenizer_json.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

constexpr char kBosName[] = "<BOS>";

std::string as_utf8(char32_t c) {
  std::string text;
  append_utf8(c, text);
  return text;
}

}  // namespace

CharTokenizer::CharTokenizer(std::vector<char32_t> characters, bool with_bos)
    : characters_(std::move(characters)), with_bos_(with_bos) {
  ascii_.fill(-1);
  for (size_t id = 0; id < characters_.size(); ++id) {
    const char32_t c = characters_[id];
    if (const int32_t other = id_of(c); other >= 0) {
      refuse("vocabulary: {} has two ids, {} and {}", code_point_name(c), other, id);
    }
    (c < 128 ? ascii_[c] : others_[c]) = static_cast<int32_t>(id);
  }
}

std::vector<char32_t> CharTokenizer::sorted_code_points(std::span<const std::string_view> texts) {
  constexpr size_t kCodePoints = 0x110000;
  std::vector<bool> seen(kCodePoints, false);
  for (const std::string_view text : texts) {
    for (size_t at = 0; at < text.size();) {
      const CodePoint c = code_point_at(text, at);
      seen[c.value] = true;
      at += static_cast<size_t>(c.length);
    }
  }
  std::vector<char32_t> characters;
  for (size_t c = 0; c < kCodePoints; ++c) {
    if (seen[c]) characters.push_back(static_cast<char32_t>(c));
  }
  return characters;
}

int32_t CharTokenizer::id_of(char32_t c) const {
  if (c < 128) return ascii_[c];
  const auto found = others_.find(c);
  return found == others_.end() ? -1 : found->second;
}

std::vector<int32_t> CharTokenizer::encode(std::string_view text) const {
  require_utf8(text, "text");
  std::vector<int32_t> ids;
  ids.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = code_point_at(text, at);
    const int32_t id = id_of(c.value);
    if (id < 0) {
      refuse("text: character {} (byte {}): {} ({}) is not among the {} characters of the vocabulary",
             ids.size() + 1, at, in_quotes(text.substr(at, static_cast<size_t>(c.length))),
             code_point_name(c.value), characters_.size());
    }
    ids.push_back(id);
    at += static_cast<size_t>(c.length);
  }
  return ids;
}

std::string CharTokenizer::decode(std::span<const int32_t> ids) const {
  std::string text;
  text.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], static_cast<int64_t>(i));
    const auto id = static_cast<size_t>(ids[i]);
    if (id < characters_.size()) append_utf8(characters_[id], text);
  }
  return text;
}

std::string CharTokenizer::token_text(int32_t id) const {
  require_id(id, 0);
  const auto index = static_cast<size_t>(id);
  return index < characters_.size() ? as_utf8(characters_[index]) : kBosName;
}

std::optional<int32_t> CharTokenizer::bos() const {
  if (!with_bos_) return std::nullopt;
  return static_cast<int32_t>(characters_.size());
}

std::optional<int32_t> CharTokenizer::end_of_document() const {
  if (with_bos_) return bos();
  const int32_t newline = ascii_['\n'];
  return newline < 0 ? std::nullopt : std::optional(newline);
}

std::vector<UnknownToken> CharTokenizer::unknown(std::string_view text) const {
  require_utf8(text, "text");
  std::vector<UnknownToken> found;
  int64_t position = 0;
  for (size_t at = 0; at < text.size(); ++position) {
    const CodePoint c = code_point_at(text, at);
    if (id_of(c.value) < 0) {
      found.push_back({std::string(text.substr(at, static_cast<size_t>(c.length))), position});
    }
    at += static_cast<size_t>(c.length);
  }
  return found;
}

std::string CharTokenizer::to_json() const {
  std::vector<std::string> tokens;
  for (const char32_t c : characters_) tokens.push_back(as_utf8(c));
  if (with_bos_) tokens.push_back(kBosName);
  return char_tokenizer_json(tokens);
}

}  // namespace tril
