#include "tril/text/bpe_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/pre_tokenizer_json.h"
#include "tril/text/tokenizer_json_bpe.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {

using Json = nlohmann::json;

/// Each line as a pair of tokens. A first line "#version: …" is none, nor are empty lines.
Json read_merge_lines(std::string_view text, const std::string& name, const Json& vocabulary) {
  require_utf8(text, name);
  Json merges = Json::array();
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != std::string_view::npos) {
      refuse("{}: line {}: '{}' is not two tokens with a blank between", name, number, line);
    }
    const std::string left(line.substr(0, blank)), right(line.substr(blank + 1));
    for (const std::string& token : {left, right, left + right}) {
      if (!vocabulary.contains(token)) {
        refuse("{}: line {}: '{}' is not in the vocabulary", name, number, token);
      }
    }
    merges.push_back({left, right});
  }
  return merges;
}

}  // namespace

std::shared_ptr<const BpeTokenizer> parse_vocab_and_merges(std::string_view vocab,
                                                           const std::string& vocab_name,
                                                           std::string_view merges,
                                                           const std::string& merges_name) {
  const Json vocabulary = parse_json_file(vocab, vocab_name);
  if (!vocabulary.is_object()) refuse("{}: not an object of tokens and their ids", vocab_name);
  const char* const end = "<|endoftext|>";
  Json added = Json::array();
  if (vocabulary.contains(end))
    added.push_back({{"id", vocabulary[end]}, {"content", end}, {"special", true}});
  const Json bytes = Json::parse(byte_level_json());
  return bpe_from_json({{"added_tokens", added},
                        {"pre_tokenizer", bytes},
                        {"post_processor", bytes},
                        {"decoder", bytes},
                        {"model",
                         {{"type", "BPE"},
                          {"vocab", vocabulary},
                          {"merges", read_merge_lines(merges, merges_name, vocabulary)}}}},
                       vocab_name);
}

}  // namespace tril
