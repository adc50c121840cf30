#include "tril/text/tokenizer_json_bpe.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "tril/base/error.h"
#include "tril/text/pre_tokenizer_json.h"

namespace tril {
namespace {

using Json = nlohmann::json;

/// Ids may have gaps, but a file of n tokens does not get to ask for memory beyond this.
constexpr int64_t kGapLimit = 1 << 20;

class Reader {
 public:
  Reader(const Json& file, const std::string& name) : file_(file), name_(name) {}

  BpeDefinition read() {
    if (!file_.is_object() || !part(file_, "model").is_object())
      refuse("{}: no object 'model' in the file", name_);
    check_model();
    check_parts();
    read_vocabulary();
    read_merges();
    read_added_tokens();
    read_special_ids();
    return std::move(definition_);
  }

 private:
  static const Json& part(const Json& object, const char* key) {
    static const Json null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
  }
  const Json& model(const char* key) const { return part(part(file_, "model"), key); }
  static bool on(const Json& value) { return value.is_boolean() && value.get<bool>(); }

  void check_model() {
    if (on(model("byte_fallback"))) {
      refuse("{}: model.byte_fallback is true; tril reads byte-level BPE, not BPE over characters", name_);
    }
    const Json& dropout = model("dropout");
    if (!dropout.is_null() && dropout != 0.0) {
      refuse("{}: model.dropout is {}; tril encodes without dropout, set it to null", name_, dropout.dump());
    }
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Json& value = model(key);
      if (!value.is_null() && value != "") {
        refuse("{}: model.{} is {}; tril supports none", name_, key, value.dump());
      }
    }
    definition_.ignore_merges = on(model("ignore_merges"));
    definition_.fuse_unk = on(model("fuse_unk"));
  }

  void check_parts() {
    refuse_unless_known_normalizer(part(file_, "normalizer"), name_);
    const Json& pre_tokenizer = part(file_, "pre_tokenizer");
    definition_.pre_tokenizer = read_pre_tokenizer(pre_tokenizer, name_, definition_.add_prefix_space);
    definition_.pre_tokenizer_json = pre_tokenizer.dump();
    refuse_unless_known_decoder(part(file_, "decoder"), name_);
    definition_.decoder_json = part(file_, "decoder").dump();
    ends_ = read_post_processor(part(file_, "post_processor"), name_);
    definition_.post_processor_json = part(file_, "post_processor").dump();
  }

  int32_t id_of(const std::string& token, const Json& id, int64_t count) const {
    const auto wrong = [&](const std::string& what) {
      refuse("{}: the id of {} is {}{}", name_, Json(token).dump(), id.dump(), what);
    };
    if (!id.is_number_integer()) wrong(", not an integer");
    if (!id.is_number_unsigned()) wrong("; ids start at 0");
    if (id.get<uint64_t>() >= static_cast<uint64_t>(count + kGapLimit))
      wrong(fmt::format(", far above the {} tokens of the file", count));
    return id.get<int32_t>();
  }

  void put(int32_t id, const std::string& token) {
    auto& tokens = definition_.tokens;
    if (static_cast<size_t>(id) >= tokens.size()) tokens.resize(id + 1);
    if (!tokens[id].empty() && tokens[id] != token) {
      refuse("{}: id {} is used by {} and {}", name_, id, Json(tokens[id]).dump(), Json(token).dump());
    }
    tokens[id] = token;
    ids_.emplace(token, id);
  }

  void read_vocabulary() {
    const Json& vocabulary = model("vocab");
    if (!vocabulary.is_object()) refuse("{}: model.vocab is not an object", name_);
    const auto count = static_cast<int64_t>(vocabulary.size());
    ids_.reserve(vocabulary.size());
    for (const auto& [token, id] : vocabulary.items()) {
      if (token.empty()) refuse("{}: model.vocab holds an empty token", name_);
      put(id_of(token, id, count), token);
    }
  }

  std::pair<std::string_view, std::string_view> merge_parts(const Json& merge, size_t index) const {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      return {merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>()};
    }
    if (merge.is_string()) {
      const std::string_view text = merge.get_ref<const std::string&>();
      const size_t blank = text.find(' ');
      if (blank != text.npos && blank > 0 && blank + 1 < text.size() &&
          text.find(' ', blank + 1) == text.npos)
        return {text.substr(0, blank), text.substr(blank + 1)};
    }
    refuse("{}: merge {} (counted from 0) is {}, not two tokens", name_, index, merge.dump());
  }

  void read_merges() {
    const Json& merges = model("merges");
    if (!merges.is_array()) refuse("{}: model.merges is not a list", name_);
    const auto id = [&](std::string_view token, size_t index) {
      const auto found = ids_.find(token);
      if (found == ids_.end()) {
        refuse("{}: merge {} (counted from 0) uses {}, which is not in the vocabulary", name_, index,
               Json(token).dump());
      }
      return found->second;
    };
    definition_.merges.reserve(merges.size());
    std::string both;
    for (size_t i = 0; i < merges.size(); ++i) {
      const auto [left, right] = merge_parts(merges[i], i);
      both.assign(left).append(right);
      definition_.merges.push_back({id(left, i), id(right, i), id(both, i), static_cast<uint32_t>(i)});
    }
  }

  void read_added_tokens() {
    const Json& added = part(file_, "added_tokens");
    if (added.is_null()) return;
    if (!added.is_array()) refuse("{}: added_tokens is not a list", name_);
    const auto count = static_cast<int64_t>(ids_.size() + added.size());
    for (const Json& entry : added) {
      const Json& content = part(entry, "content");
      if (!content.is_string() || content == "") {
        refuse("{}: an added token without content: {}", name_, entry.dump());
      }
      AddedToken token;
      token.content = content.get<std::string>();
      token.id = id_of(token.content, part(entry, "id"), count);
      const auto known = ids_.find(token.content);
      if (known != ids_.end() && known->second != token.id) {
        refuse("{}: {} has id {} in model.vocab and {} in added_tokens", name_, content.dump(), known->second,
               token.id);
      }
      put(token.id, content.get_ref<const std::string&>());
      token.special = on(part(entry, "special"));
      token.single_word = on(part(entry, "single_word"));
      token.lstrip = on(part(entry, "lstrip"));
      token.rstrip = on(part(entry, "rstrip"));
      token.normalized = on(part(entry, "normalized"));
      definition_.added.push_back(std::move(token));
    }
  }

  std::optional<int32_t> named(const std::string& token, const char* where) const {
    if (token.empty()) return std::nullopt;
    const auto found = ids_.find(token);
    if (found == ids_.end()) refuse("{}: {} names {}, which has no id", name_, where, Json(token).dump());
    return found->second;
  }

  void read_special_ids() {
    const Json& unknown = model("unk_token");
    if (unknown.is_string()) definition_.unk = named(unknown.get<std::string>(), "model.unk_token");
    definition_.bos = named(ends_.first, "post_processor");
    definition_.eos = named(ends_.second, "post_processor");
    if (!definition_.eos) definition_.eos = named_end_token(definition_.added);
  }

  const Json& file_;
  const std::string& name_;
  BpeDefinition definition_;
  std::unordered_map<std::string_view, int32_t> ids_;  // of texts in file_
  std::pair<std::string, std::string> ends_;
};

std::string quoted(const std::string& text) {
  return Json(text).dump();
}

/// A part in the one spelling that reading gives it, so that a tokenizer and its file read back have the same
/// bytes.
std::string respelled(const std::string& part) {
  return Json::parse(part).dump();
}

std::string added_tokens_json(const std::vector<AddedToken>& added) {
  std::string text;
  for (const AddedToken& token : added) {
    text += fmt::format(
        "{}\n    {{\"id\": {}, \"content\": {}, \"single_word\": {}, \"lstrip\": {}, \"rstrip\": {}, "
        "\"normalized\": {}, \"special\": {}}}",
        text.empty() ? "" : ",", token.id, quoted(token.content), token.single_word, token.lstrip,
        token.rstrip, token.normalized, token.special);
  }
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

}  // namespace

std::shared_ptr<const BpeTokenizer> bpe_from_json(const Json& file, const std::string& name) {
  return std::make_shared<const BpeTokenizer>(Reader(file, name).read());
}

std::string write_bpe_json(const BpeDefinition& definition) {
  const auto& tokens = definition.tokens;
  std::vector<bool> outside(tokens.size());  // added tokens that the model's vocabulary does not hold
  for (const AddedToken& token : definition.added) outside[token.id] = true;
  std::string vocabulary, merges;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty() || outside[id]) continue;
    vocabulary += fmt::format("{}\n      {}: {}", vocabulary.empty() ? "" : ",", quoted(tokens[id]), id);
  }
  const bool pairs = std::any_of(definition.merges.begin(), definition.merges.end(), [&](const auto& merge) {
    return (tokens[merge.left] + tokens[merge.right]).find(' ') != std::string::npos;
  });
  for (const auto& merge : definition.merges) {
    const std::string &left = tokens[merge.left], &right = tokens[merge.right];
    merges += merges.empty() ? "\n      " : ",\n      ";
    merges += pairs ? fmt::format("[{}, {}]", quoted(left), quoted(right)) : quoted(left + " " + right);
  }
  return fmt::format(
      "{{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": {},\n"
      "  \"normalizer\": null,\n  \"pre_tokenizer\": {},\n  \"post_processor\": {},\n  \"decoder\": {},\n"
      "  \"model\": {{\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": {},\n"
      "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": {},\n"
      "    \"byte_fallback\": false,\n    \"ignore_merges\": {},\n    \"vocab\": {{{}\n    }},\n"
      "    \"merges\": [{}\n    ]\n  }}\n}}\n",
      added_tokens_json(definition.added), respelled(definition.pre_tokenizer_json),
      respelled(definition.post_processor_json), respelled(definition.decoder_json),
      definition.unk ? quoted(tokens[*definition.unk]) : "null", definition.fuse_unk,
      definition.ignore_merges, vocabulary, merges);
}

std::optional<int32_t> named_end_token(const std::vector<AddedToken>& added) {
  for (const char* name : {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>"}) {
    for (const AddedToken& token : added) {
      if (token.special && token.content == name) return token.id;
    }
  }
  return std::nullopt;
}

}  // namespace tril
