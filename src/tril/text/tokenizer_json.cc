#include "tril/text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "tril/text/normalize.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using Json = nlohmann::ordered_json;

/// Characters with a compatibility decomposition that came to Unicode after the tables which `tokenizers`
/// carries for NFKC (versions 12.1 to 14). Its file spells them out, so that both programs see the same text.
struct Range {
  char32_t first, last;
};
constexpr Range kNewerDecompositions[] = {
    {0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},   {0x10781, 0x10785},
    {0x10787, 0x107B0}, {0x107B2, 0x107BA}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9},
};

Json split(const char* pattern, const char* behavior, bool invert) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", behavior}, {"invert", invert}};
}

std::string word_level_file(Json normalizer, Json pre_tokenizer, Json decoder,
                            std::span<const std::string> tokens) {
  Json vocabulary = Json::object();
  // ordered_json's own insertion looks through all earlier keys; these are distinct, so they go in directly.
  auto& entries = static_cast<Json::object_t::Container&>(vocabulary.get_ref<Json::object_t&>());
  entries.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) entries.emplace_back(tokens[id], id);
  const Json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", Json::array()},
      {"normalizer", std::move(normalizer)},
      {"pre_tokenizer", std::move(pre_tokenizer)},
      {"post_processor", nullptr},
      {"decoder", std::move(decoder)},
      {"model", {{"type", "WordLevel"}, {"vocab", std::move(vocabulary)}, {"unk_token", "<UNK>"}}}};
  return file.dump(1) + "\n";
}

}  // namespace

Json word_normalizer_json() {
  Json steps = Json::array();
  const auto replace = [&](const std::string& from, const std::string& to) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}});
  };
  for (const Range& range : kNewerDecompositions) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      std::string character;
      append_utf8(c, character);
      replace(character, normalize(character));
    }
  }
  replace("\U00011935\U00011930", "\U00011938");  // the one composition that is as new
  for (const char* type : {"NFKC", "Lowercase", "NFKC"}) steps.push_back({{"type", type}});
  steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}});
  steps.push_back({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
  return {{"type", "Sequence"}, {"normalizers", std::move(steps)}};
}

Json word_pre_tokenizer_json() {
  return split("\\p{L}[\\p{L}\\p{M}]*(?:'\\p{L}[\\p{L}\\p{M}]*)?|\\p{Nd}+|[^\\s_]", "Removed", true);
}

Json char_pre_tokenizer_json() {
  return split("[\\s\\S]", "Isolated", false);
}

std::string word_tokenizer_json(std::span<const std::string> tokens) {
  return word_level_file(word_normalizer_json(), word_pre_tokenizer_json(), nullptr, tokens);
}

std::string char_tokenizer_json(std::span<const std::string> tokens) {
  return word_level_file(nullptr, char_pre_tokenizer_json(), {{"type", "Fuse"}}, tokens);
}

}  // namespace tril
