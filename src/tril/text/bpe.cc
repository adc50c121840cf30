#include "tril/text/bpe.h"

#include <algorithm>
#include <utility>

#include "tril/base/error.h"
#include "tril/text/byte_level.h"
#include "tril/text/loose_utf8.h"
#include "tril/text/tokenizer_json_bpe.h"

namespace tril {

BpeTokenizer::BpeTokenizer(BpeDefinition definition) : definition_(std::move(definition)) {
  index_tokens();
  index_merges();
  const bool strips =
      std::any_of(definition_.added.begin(), definition_.added.end(),
                  [](const AddedToken& token) { return !token.special && (token.lstrip || token.rstrip); });
  const bool all_bytes = std::find(byte_ids_.begin(), byte_ids_.end(), -1) == byte_ids_.end();
  lossy_ = definition_.add_prefix_space || definition_.pre_tokenizer.drops() || strips || !all_bytes;
}

void BpeTokenizer::index_tokens() {
  auto& tokens = definition_.tokens;
  std::vector<const AddedToken*> added(tokens.size(), nullptr);
  for (const AddedToken& token : definition_.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id >= tokens.size()) {
      tokens.resize(id + 1);
      added.resize(id + 1, nullptr);
    }
    tokens[id] = token.content;
    added[id] = &token;
  }
  special_.resize(tokens.size());
  byte_ids_.assign(256, -1);
  for (size_t id = 0; id < tokens.size(); ++id) {
    starts_.push_back(static_cast<uint32_t>(bytes_.size()));
    if (added[id]) {
      bytes_ += tokens[id];
      special_[id] = added[id]->special;
      continue;
    }
    const std::optional<std::string> bytes = from_byte_level(tokens[id]);
    bytes_ += bytes ? *bytes : tokens[id];
    if (bytes && bytes->size() == 1) byte_ids_[static_cast<uint8_t>((*bytes)[0])] = static_cast<int32_t>(id);
  }
  starts_.push_back(static_cast<uint32_t>(bytes_.size()));
  for (const bool normalized : {false, true}) matchers_[normalized] = {definition_.added, normalized};
}

void BpeTokenizer::index_merges() {
  pairs_ = PairTable(definition_.merges.size());
  for (const auto& merge : definition_.merges) pairs_.put(merge.left, merge.right, merge.rank, merge.merged);
  direct_ = PieceTable(definition_.tokens.size());
  std::vector<bool> is_added(definition_.tokens.size());
  for (const AddedToken& token : definition_.added) is_added[token.id] = true;
  PieceMerger merger;
  std::vector<int32_t> ids;
  for (int32_t id = 0; id < vocab_size(); ++id) {
    const std::string_view bytes = token_bytes(id);
    if (bytes.empty() || is_added[id] || !from_byte_level(definition_.tokens[id])) continue;
    if (!definition_.ignore_merges) {
      ids.clear();
      for (const char byte : bytes) ids.push_back(byte_ids_[static_cast<uint8_t>(byte)]);
      merger.merge(pairs_, ids);
      if (ids.size() != 1 || ids[0] != id) continue;
    }
    direct_.add(bytes, id);
  }
}

std::vector<int32_t> BpeTokenizer::encode(std::string_view text, Specials specials) const {
  Scratch scratch;
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 4 + 4);
  encode_part(text, 0, true, specials, scratch, ids);
  return ids;
}

BpeTokenizer::Part BpeTokenizer::encode_part(std::string_view text, size_t begin, bool final,
                                             Specials specials, Scratch& scratch,
                                             std::vector<int32_t>& ids) const {
  scratch.text = text.data();
  return encode_sections(0, text, begin, final, specials, scratch, ids);
}

BpeTokenizer::Part BpeTokenizer::encode_sections(int pass, std::string_view text, size_t begin, bool final,
                                                 Specials specials, Scratch& scratch,
                                                 std::vector<int32_t>& ids) const {
  if (pass == 2) return {encode_section(text, begin, final, scratch, ids), 0};
  const AddedTokenMatcher& matcher = matchers_[pass];
  size_t section = 0;
  for (;;) {
    const auto match = matcher.find(text, begin, final, specials);
    const bool closed = final || match.token;
    const size_t end = match.token ? match.begin : final ? text.size() : match.safe;
    Part part = encode_sections(pass + 1, text.substr(section, end - section), begin - section, closed,
                                specials, scratch, ids);
    if (!match.token) return {section + part.end, section + part.section};
    ids.push_back(match.token->id);
    begin = section = match.end;
  }
}

size_t BpeTokenizer::encode_section(std::string_view text, size_t begin, bool final, Scratch& scratch,
                                    std::vector<int32_t>& ids) const {
  const auto encode = [&](std::string_view piece) { encode_piece(piece, scratch, ids); };
  if (definition_.add_prefix_space) {
    if (!final) return begin;
    if (!text.empty() && text[0] != ' ') {
      std::string prefixed(1, ' ');
      prefixed += text;
      const char* const outer = std::exchange(scratch.text, prefixed.data());
      definition_.pre_tokenizer.split(prefixed, 0, true, encode);
      scratch.text = outer;
      return text.size();
    }
  }
  return definition_.pre_tokenizer.split(text, begin, final, encode);
}

void BpeTokenizer::encode_piece(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (const int32_t id = direct_.find(piece); id >= 0) {
    ids.push_back(id);
    return;
  }
  auto& symbols = scratch.piece;
  symbols.clear();
  bool fuse = false;
  for (const char& each : piece) {
    const auto byte = static_cast<uint8_t>(each);
    const int32_t id = byte_ids_[byte];
    if (id < 0 && !definition_.unk) {
      refuse("byte {} of the text, 0x{:02X}, has no token in this vocabulary and there is no unknown token",
             scratch.bytes_before + (&each - scratch.text), byte);
    }
    if (id >= 0) {
      symbols.push_back(id);
    } else if (!fuse) {
      symbols.push_back(*definition_.unk);
    }
    fuse = id < 0 && definition_.fuse_unk;
  }
  scratch.merger.merge(pairs_, symbols);
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

std::string_view BpeTokenizer::token_bytes(int32_t id) const {
  require_id(id, 0);
  return std::string_view(bytes_).substr(starts_[id], starts_[id + 1] - starts_[id]);
}

bool BpeTokenizer::is_special(int32_t id) const {
  require_id(id, 0);
  return special_[id];
}

std::string BpeTokenizer::decode(std::span<const int32_t> ids, bool show_specials) const {
  std::string text;
  for (size_t i = 0; i < ids.size(); ++i) {
    require_id(ids[i], static_cast<int64_t>(i));
    if (special_[ids[i]] && !show_specials) continue;
    text += token_bytes(ids[i]);
  }
  return text;
}

std::string BpeTokenizer::token_text(int32_t id) const {
  const std::string_view bytes = token_bytes(id);
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const LooseChar c = loose_char_at(bytes, at);
    if (c.valid) {
      text += bytes.substr(at, c.bytes);
    } else {
      for (size_t i = 0; i < c.bytes; ++i)
        text += fmt::format("<0x{:02X}>", static_cast<uint8_t>(bytes[at + i]));
    }
    at += c.bytes;
  }
  return text;
}

std::optional<int32_t> BpeTokenizer::token_id(std::string_view token) const {
  const auto found = std::find(definition_.tokens.begin(), definition_.tokens.end(), token);
  if (found == definition_.tokens.end() || token.empty()) return std::nullopt;
  return static_cast<int32_t>(found - definition_.tokens.begin());
}

std::string BpeTokenizer::to_json() const {
  return write_bpe_json(definition_);
}

}  // namespace tril
