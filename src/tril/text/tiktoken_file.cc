#include "tril/text/tiktoken_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "tril/base/error.h"
#include "tril/text/byte_level.h"
#include "tril/text/piece_table.h"
#include "tril/text/pre_tokenizer_json.h"

namespace tril {
namespace {

struct Special {
  const char* content;
  int32_t id;
};
struct Known {
  const char* name;
  SplitPattern pattern;  // kWhole: o200k's expression
  std::vector<Special> specials;
};

const std::vector<Known>& known_encodings() {
  static const std::vector<Known> known = {
      {"gpt2", SplitPattern::kGpt2, {{"<|endoftext|>", 50256}}},
      {"r50k_base", SplitPattern::kGpt2, {{"<|endoftext|>", 50256}}},
      {"p50k_base", SplitPattern::kGpt2, {{"<|endoftext|>", 50256}}},
      {"cl100k_base",
       SplitPattern::kGpt4Tiktoken,
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"gpt4", SplitPattern::kGpt4Tiktoken, {}},
      {"o200k_base", SplitPattern::kWhole, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
  };
  return known;
}

/// Appends the bytes of a base64 text; false where it is none.
bool decode_base64(std::string_view text, std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.empty() || text.size() % 4 != 0) return false;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  uint32_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = i + padding < text.size() ? kDigits.find(text[i]) : 0;
    if (digit == std::string_view::npos) return false;
    group = group << 6 | static_cast<uint32_t>(digit);
    if (i % 4 != 3) continue;
    const size_t kept = i + 1 == text.size() ? 3 - padding : 3;
    for (size_t k = 0; k < kept; ++k) bytes += static_cast<char>(group >> (16 - 8 * k) & 0xFF);
    group = 0;
  }
  return true;
}

struct Ranked {
  std::vector<std::string> tokens;  // bytes by rank, "" for a gap
  size_t count = 0;
};

void read_line(std::string_view line, size_t number, const std::string& name, size_t lines, Ranked& ranked) {
  const size_t blank = line.find(' ');
  std::string bytes;
  uint32_t rank = 0;
  const char* const end = line.data() + line.size();
  bool good = blank != std::string_view::npos && decode_base64(line.substr(0, blank), bytes);
  if (good) {
    const auto [stop, error] = std::from_chars(line.data() + blank + 1, end, rank);
    good = error == std::errc() && stop == end;
  }
  if (!good) refuse("{}: line {}: not a token in base64, a blank and its rank", name, number);
  if (rank >= 2 * lines + 1024) {
    refuse("{}: line {}: rank {} is far above the {} tokens of the file", name, number, rank, lines);
  }
  if (rank >= ranked.tokens.size()) ranked.tokens.resize(rank + 1);
  if (!ranked.tokens[rank].empty()) refuse("{}: line {}: rank {} stands there twice", name, number, rank);
  ranked.tokens[rank] = std::move(bytes);
  ++ranked.count;
}

Ranked read_ranks(std::string_view bytes, const std::string& name) {
  Ranked ranked;
  const auto lines = static_cast<size_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1;
  size_t number = 0;
  while (!bytes.empty()) {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) read_line(line, number, name, lines, ranked);
  }
  if (ranked.count == 0) refuse("{}: no tokens in the file", name);
  return ranked;
}

/// Every way to put a token together from two others: all have the token's own rank, as tiktoken merges
/// whichever adjacent pair makes the token of lowest rank.
std::vector<BpeDefinition::Merge> merges_of(const Ranked& ranked, const std::string& name) {
  PieceTable ids(ranked.count);
  for (size_t id = 0; id < ranked.tokens.size(); ++id) {
    const std::string& token = ranked.tokens[id];
    if (token.empty()) continue;
    const int32_t first = ids.add(token, static_cast<int32_t>(id));
    if (first != static_cast<int32_t>(id)) refuse("{}: ranks {} and {} are the same token", name, first, id);
  }
  for (int b = 0; b < 256; ++b) {
    const char byte = static_cast<char>(b);
    if (ids.find({&byte, 1}) < 0) refuse("{}: no token for the byte 0x{:02X}", name, b);
  }
  std::vector<BpeDefinition::Merge> merges;
  for (size_t id = 0; id < ranked.tokens.size(); ++id) {
    const std::string_view token = ranked.tokens[id];
    const size_t before = merges.size();
    for (size_t cut = 1; cut < token.size(); ++cut) {
      const int32_t left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left >= 0 && right >= 0) {
        merges.push_back({left, right, static_cast<int32_t>(id), static_cast<uint32_t>(id)});
      }
    }
    std::sort(
        merges.begin() + static_cast<ptrdiff_t>(before), merges.end(),
        [](const auto& a, const auto& b) { return std::pair(a.left, a.right) < std::pair(b.left, b.right); });
  }
  return merges;
}

std::string stem_of(const std::string& name) {
  return std::filesystem::path(name).stem().string();
}

}  // namespace

TiktokenEncoding tiktoken_encoding(std::string_view name, size_t tokens) {
  std::string names;
  for (const Known& known : known_encodings()) {
    names += names.empty() ? known.name : std::string(", ") + known.name;
    if (name != known.name) continue;
    TiktokenEncoding encoding;
    if (known.pattern == SplitPattern::kWhole) {
      encoding.pre_tokenizer =
          PreTokenizer({SplitRegex(std::string(kO200kSource), SplitBehavior::kIsolated, false)});
      encoding.pre_tokenizer_json = split_json(kO200kSource);
    } else {
      encoding.pre_tokenizer = PreTokenizer({known.pattern});
      encoding.pre_tokenizer_json = pre_tokenizer_json(known.pattern);
    }
    const int32_t first = known.specials.empty() ? 0 : known.specials[0].id;
    const bool room =
        tokens <= static_cast<size_t>(first) + 1024 && tokens + 1024 >= static_cast<size_t>(first);
    for (const Special& special : known.specials) {
      if (room) encoding.added.push_back({.id = special.id, .content = special.content});
    }
    if (room && !known.specials.empty()) encoding.eos = first;
    return encoding;
  }
  refuse("'{}' is no tiktoken encoding that tril knows: {}", name, names);
}

std::shared_ptr<const BpeTokenizer> parse_tiktoken(std::string_view bytes, const std::string& name,
                                                   std::string_view encoding) {
  Ranked ranked = read_ranks(bytes, name);
  const std::string stem = stem_of(name);
  TiktokenEncoding known;
  try {
    known = tiktoken_encoding(encoding.empty() ? std::string_view(stem) : encoding, ranked.tokens.size());
  } catch (const Refusal& refusal) {
    refuse("{}: a tiktoken file does not hold its split pattern, and {}; name the file so", name,
           refusal.what());
  }
  BpeDefinition definition;
  definition.merges = merges_of(ranked, name);
  for (const std::string& token : ranked.tokens) definition.tokens.push_back(to_byte_level(token));
  definition.pre_tokenizer = std::move(known.pre_tokenizer);
  definition.pre_tokenizer_json = std::move(known.pre_tokenizer_json);
  definition.decoder_json = definition.post_processor_json = byte_level_json();
  definition.ignore_merges = true;  // tiktoken looks a whole piece up before it merges
  for (AddedToken& token : known.added) {
    const auto id = static_cast<size_t>(token.id);
    if (id < ranked.tokens.size() && !ranked.tokens[id].empty()) {
      refuse("{}: rank {} is a token of text, but {} in this encoding", name, id, token.content);
    }
    definition.added.push_back(std::move(token));
  }
  definition.eos = known.eos;
  return std::make_shared<const BpeTokenizer>(std::move(definition));
}

}  // namespace tril
