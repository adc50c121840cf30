#include "tril/text/load_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/json_depth.h"
#include "tril/base/sniff.h"
#include "tril/text/bpe_files.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/tiktoken_file.h"
#include "tril/text/tokenizer_json.h"
#include "tril/text/tokenizer_json_bpe.h"
#include "tril/text/utf8.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

using Json = nlohmann::json;

/// Names the key that an object of the text holds twice.
[[noreturn]] void refuse_repeated_key(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      refuse("{}: the key {} occurs twice in one object", name, value.dump());
    return true;
  };
  const Json parsed = Json::parse(text, watch);
  refuse("{}: a key occurs twice in one object of {}", name, parsed.type_name());
}

/// Parses JSON and refuses a key that an object holds twice, which a parser would settle silently: the object
/// then has fewer keys than were read.
Json parse_strictly(std::string_view text, const std::string& name) {
  std::vector<size_t> open;  // the keys read of each object that is not yet closed
  bool repeated = false;
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.push_back(0);
    if (event == Json::parse_event_t::key) ++open.back();
    if (event == Json::parse_event_t::object_end) {
      repeated |= value.size() != open.back();
      open.pop_back();
    }
    return true;
  };
  try {
    Json parsed = Json::parse(text, watch);
    if (!repeated) return parsed;
  } catch (const Json::parse_error& error) {
    refuse("{}: byte {}: not valid JSON", name, error.byte);
  } catch (const Json::exception& error) {  // out_of_range: it quotes the number, "… parsing '1e999'"
    const std::string_view told = error.what();
    refuse("{}: holds a number beyond the range of a double: {}", name,
           told.substr(std::min(told.find('\''), told.size())));
  }
  refuse_repeated_key(text, name);
}

/// The tokens in id order. Throws Refusal unless the ids are 0 … n-1, each once.
std::vector<std::string> tokens_of(const Json& vocabulary, const std::string& name) {
  if (!vocabulary.is_object()) refuse("{}: model.vocab is no object", name);
  std::vector<std::string> tokens(vocabulary.size());
  std::vector<bool> used(tokens.size(), false);
  for (const auto& [token, id] : vocabulary.items()) {
    const std::string shown = Json(token).dump();
    if (!id.is_number_integer()) refuse("{}: the id of {} is {}, not an integer", name, shown, id.dump());
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= tokens.size()) {
      refuse("{}: the id of {} is {}; {} tokens have the ids 0 to {}", name, shown, id.dump(), tokens.size(),
             tokens.size() - 1);
    }
    const auto index = id.get<size_t>();
    if (used[index]) refuse("{}: id {} is used by {} and {}", name, index, Json(tokens[index]).dump(), shown);
    used[index] = true;
    tokens[index] = token;
  }
  return tokens;
}

std::shared_ptr<const Tokenizer> word_tokenizer(const std::vector<std::string>& tokens,
                                                const std::string& name) {
  const auto specials = word_specials();
  for (size_t id = 0; id < specials.size(); ++id) {
    if (id >= tokens.size() || tokens[id] != specials[id]) {
      refuse("{}: id {} must be {}, as in a word vocabulary that tril wrote", name, id, specials[id]);
    }
  }
  return std::make_shared<WordTokenizer>(
      std::vector<std::string>(tokens.begin() + WordTokenizer::kSpecials, tokens.end()));
}

std::shared_ptr<const Tokenizer> char_tokenizer(const std::vector<std::string>& tokens,
                                                const std::string& name) {
  std::vector<char32_t> characters;
  const bool with_bos = !tokens.empty() && tokens.back() == "<BOS>";
  for (size_t id = 0; id + with_bos < tokens.size(); ++id) {
    if (tokens[id].empty() || code_point_at(tokens[id], 0).length != static_cast<int>(tokens[id].size())) {
      refuse("{}: id {} is {}, not one character", name, id, Json(tokens[id]).dump());
    }
    characters.push_back(code_point_at(tokens[id], 0).value);
  }
  return std::make_shared<CharTokenizer>(std::move(characters), with_bos);
}

std::shared_ptr<const Tokenizer> word_level(const Json& file, const std::string& name) {
  const auto part = [&](const char* key) { return file.contains(key) ? file[key] : Json(); };
  if (!part("added_tokens").empty()) {
    refuse("{}: a WordLevel model with added_tokens; tril's word and char tokenizers have none", name);
  }
  const Json normalizer = part("normalizer"), pre_tokenizer = part("pre_tokenizer");
  const auto same = [](const Json& a, const nlohmann::ordered_json& b) { return a == Json::parse(b.dump()); };
  const bool words =
      same(pre_tokenizer, word_pre_tokenizer_json()) && same(normalizer, word_normalizer_json());
  const bool characters = same(pre_tokenizer, char_pre_tokenizer_json()) && normalizer.is_null();
  if (!words && !characters) {
    refuse(
        "{}: a WordLevel model whose normalizer and pre_tokenizer are not those of tril's word or char "
        "tokenizer",
        name);
  }
  const Json& model = file["model"];
  const auto tokens = tokens_of(model.contains("vocab") ? model["vocab"] : Json(), name);
  return words ? word_tokenizer(tokens, name) : char_tokenizer(tokens, name);
}

}  // namespace

Json parse_json_file(std::string_view json, const std::string& name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (json.substr(0, kMark.size()) == kMark) json.remove_prefix(kMark.size());
  refuse_unless_text(name, json);
  require_utf8(json, name);
  require_parsable(json, name);
  return parse_strictly(json, name);
}

std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view json, const std::string& name) {
  const Json file = parse_json_file(json, name);
  if (!file.is_object() || !file.contains("model") || !file["model"].is_object()) {
    refuse("{}: not a tokenizer.json: it holds no \"model\"", name);
  }
  const Json type = file["model"].contains("type") ? file["model"]["type"] : Json();
  if (type == "WordLevel") return word_level(file, name);
  if (type == "BPE") return bpe_from_json(file, name);
  refuse("{}: a tokenizer model of type {}; tril reads BPE and WordLevel (its own word and char files)", name,
         type.dump());
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;  // what is wrong with the path is said when it is read
  const bool folder = fs::is_directory(path, error);
  const std::string inside = folder ? path : fs::path(path).parent_path().string();
  const std::string name = folder ? "" : fs::path(path).filename().string();
  const std::string vocab = fs::path(inside) / "vocab.json", merges = fs::path(inside) / "merges.txt";
  const std::string file = folder ? (fs::path(path) / "tokenizer.json").string() : path;
  const bool pair =
      name == "vocab.json" || name == "merges.txt" ||
      (folder && !fs::exists(file, error) && fs::exists(vocab, error) && fs::exists(merges, error));
  if (pair) return parse_vocab_and_merges(read_file(vocab), vocab, read_file(merges), merges);
  if (name.ends_with(".tiktoken")) return parse_tiktoken(read_file(path), path);
  return parse_tokenizer(read_file(file), file);
}

}  // namespace tril
