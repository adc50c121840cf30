#include "tril/formats/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/formats/gguf_keys.h"
#include "tril/text/bpe.h"
#include "tril/text/byte_level.h"
#include "tril/text/pre_tokenizer_json.h"
#include "tril/text/tokenizer_json_bpe.h"
#include "tril/text/utf8.h"

namespace tril {
namespace {
using nlohmann::json;

// tokenizer.ggml.token_type
constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;
// Tokens that end a turn or a text in chat files, whatever eos_token_id says (llama.cpp ends there too).
constexpr const char* kTurnEnds[] = {"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>"};

// llama.cpp's rule for the two settings that depend on the pre-tokenizer where the file does not state them.
bool is_llama_bpe(const std::string& pre) {
  return pre == "llama-bpe" || pre == "llama3" || pre == "llama-v3";
}

class Reader {
 public:
  explicit Reader(const GgufFile& file) : file_(file), keys_(file), path_(file.path()) {}

  GgufTokenizer read() {
    const std::string model = keys_.text("tokenizer.ggml.model");
    if (model != "gpt2")
      refuse("{}: tokenizer.ggml.model is {}; tril reads gpt2, which is byte-level BPE", path_,
             in_quotes(model));
    const std::string pre = keys_.text("tokenizer.ggml.pre");
    try {
      definition_.pre_tokenizer_json = named_pre_tokenizer_json(pre);
    } catch (const Refusal& refusal) {
      refuse("{}: tokenizer.ggml.pre: {}", path_, refusal.what());
    }
    definition_.ignore_merges = is_llama_bpe(pre);
    read_tokens();
    read_merges();
    return finish(pre);
  }

 private:
  void read_tokens() {
    const std::vector<std::string_view> tokens = file_.strings("tokenizer.ggml.tokens");
    ids_.reserve(tokens.size());
    for (const std::string_view token : tokens) {
      const auto id = static_cast<int32_t>(definition_.tokens.size());
      if (token.empty()) refuse("{}: tokenizer.ggml.tokens: token {} is empty", path_, id);
      if (const auto bad = first_invalid_utf8(token))
        refuse("{}: tokenizer.ggml.tokens: token {}, {}, is not valid UTF-8 at its byte {}", path_, id,
               in_quotes(token), *bad);
      if (!ids_.emplace(token, id).second)
        refuse("{}: tokenizer.ggml.tokens: {} comes twice", path_, in_quotes(token));
      definition_.tokens.emplace_back(token);
    }
    if (!keys_.has("tokenizer.ggml.token_type")) return;
    const std::vector<int32_t> types = file_.integers("tokenizer.ggml.token_type");
    if (types.size() != definition_.tokens.size()) {
      refuse("{}: tokenizer.ggml.token_type has {} elements, there are {} tokens", path_, types.size(),
             definition_.tokens.size());
    }
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] < kNormal || types[i] > kByte)
        refuse("{}: tokenizer.ggml.token_type: token {} is of type {}, 1 to 6 are known", path_, i, types[i]);
      if (types[i] != kControl && types[i] != kUserDefined && types[i] != kUnknown) continue;
      AddedToken token;
      token.id = static_cast<int32_t>(i);
      token.content = definition_.tokens[i];
      token.special = types[i] != kUserDefined;
      definition_.added.push_back(std::move(token));
    }
  }

  void read_merges() {
    uint32_t rank = 0;
    for (const std::string_view merge : file_.strings("tokenizer.ggml.merges")) {
      const size_t blank = merge.find(' ', 1);
      const auto id = [&](std::string_view token) {
        const auto found = ids_.find(token);
        if (found == ids_.end()) {
          refuse("{}: tokenizer.ggml.merges: merge {} (counted from 0), {}, uses {}, which is no token",
                 path_, rank, in_quotes(merge), in_quotes(token));
        }
        return found->second;
      };
      if (blank == merge.npos)
        refuse("{}: tokenizer.ggml.merges: merge {} is {}, not two tokens", path_, rank, in_quotes(merge));
      const std::string_view left = merge.substr(0, blank), right = merge.substr(blank + 1);
      definition_.merges.push_back({id(left), id(right), id(std::string(left) + std::string(right)), rank});
      ++rank;
    }
  }

  // The beginning that is put before every text, where the file asks for one.
  std::string post_processor(std::optional<int32_t> bos, bool add) const {
    if (!add) return byte_level_json();
    if (!bos) refuse("{}: a beginning token is asked for, tokenizer.ggml.bos_token_id is missing", path_);
    const std::string& text = definition_.tokens[static_cast<size_t>(*bos)];
    const auto sequence = [](const char* name, int type) {
      return json{{"Sequence", {{"id", name}, {"type_id", type}}}};
    };
    const json begin = {{"SpecialToken", {{"id", text}, {"type_id", 0}}}};
    return json{{"type", "TemplateProcessing"},
                {"single", {begin, sequence("A", 0)}},
                {"pair", {begin, sequence("A", 0), begin, sequence("B", 1)}},
                {"special_tokens", {{text, {{"id", text}, {"ids", {*bos}}, {"tokens", {text}}}}}}}
        .dump();
  }

  GgufTokenizer finish(const std::string& pre) {
    const auto tokens = static_cast<int64_t>(definition_.tokens.size());
    GgufTokenizer read;
    read.ends.begin = keys_.id("tokenizer.ggml.bos_token_id", tokens);
    if (const auto end = keys_.id("tokenizer.ggml.eos_token_id", tokens)) read.ends.ends.push_back(*end);
    for (const AddedToken& token : definition_.added) {
      const bool known =
          std::find(std::begin(kTurnEnds), std::end(kTurnEnds), token.content) != std::end(kTurnEnds);
      const auto& ends = read.ends.ends;
      if (known && token.special && std::find(ends.begin(), ends.end(), token.id) == ends.end())
        read.ends.ends.push_back(token.id);
    }
    if (keys_.flag("tokenizer.ggml.add_eos_token", false))
      refuse("{}: tokenizer.ggml.add_eos_token is true; tril puts no end token behind a prompt", path_);
    definition_.post_processor_json =
        post_processor(read.ends.begin, keys_.flag("tokenizer.ggml.add_bos_token", is_llama_bpe(pre)));
    definition_.decoder_json = byte_level_json();
    refuse_added_parts();
    settle_parts();
    read.tokenizer = std::make_shared<const BpeTokenizer>(std::move(definition_));
    return read;
  }

  // A tokenizer.json could not hold such a merge: added tokens stand outside its vocabulary.
  void refuse_added_parts() const {
    std::vector<bool> added(definition_.tokens.size());
    for (const AddedToken& token : definition_.added) added[static_cast<size_t>(token.id)] = true;
    for (const BpeDefinition::Merge& merge : definition_.merges) {
      for (const int32_t id : {merge.left, merge.right, merge.merged}) {
        if (!added[static_cast<size_t>(id)]) continue;
        refuse(
            "{}: tokenizer.ggml.merges: merge {} (counted from 0) uses {}, which is a control or added token",
            path_, merge.rank, in_quotes(definition_.tokens[static_cast<size_t>(id)]));
      }
    }
  }

  // The parts of a tokenizer.json as reading one would leave them.
  void settle_parts() {
    for (std::string* part :
         {&definition_.pre_tokenizer_json, &definition_.post_processor_json, &definition_.decoder_json})
      *part = json::parse(*part).dump();
    definition_.pre_tokenizer =
        read_pre_tokenizer(json::parse(definition_.pre_tokenizer_json), path_, definition_.add_prefix_space);
    const auto ends = read_post_processor(json::parse(definition_.post_processor_json), path_);
    if (!ends.first.empty()) definition_.bos = ids_.at(ends.first);
    definition_.eos = named_end_token(definition_.added);
  }

  const GgufFile& file_;
  GgufKeys keys_;
  const std::string& path_;
  BpeDefinition definition_;
  std::unordered_map<std::string_view, int32_t> ids_;
};

// The name that llama.cpp has for a split rule; "" for none.
std::string pre_name(const BpeDefinition& definition) {
  std::vector<std::string> candidates = {"gpt-2", "smollm", "qwen2"};
  candidates.emplace_back(definition.ignore_merges ? "llama-bpe" : "dbrx");
  const json own = json::parse(definition.pre_tokenizer_json);
  for (const std::string& name : candidates)
    if (json::parse(named_pre_tokenizer_json(name)) == own) return name;
  return "";
}

struct Vocabulary {
  std::vector<std::string> tokens, merges;
  std::vector<int32_t> types;
  std::string pre;
};

Vocabulary bpe_vocabulary(const BpeTokenizer& bpe, const std::string& name) {
  const BpeDefinition& definition = bpe.definition();
  Vocabulary v{
      definition.tokens, {}, std::vector<int32_t>(definition.tokens.size(), kNormal), pre_name(definition)};
  if (v.pre.empty() || definition.add_prefix_space) {
    refuse(
        "{}: llama.cpp has no name for the rule by which this tokenizer cuts text, so its ids would differ: "
        "{}",
        name, definition.pre_tokenizer_json);
  }
  for (const BpeDefinition::Merge& merge : definition.merges) {
    const std::string &left = v.tokens[static_cast<size_t>(merge.left)],
                      &right = v.tokens[static_cast<size_t>(merge.right)];
    if ((left + right).find(' ') != std::string::npos)
      refuse("{}: the merge of {} and {} holds a blank, which GGUF can't write", name, in_quotes(left),
             in_quotes(right));
    v.merges.push_back(left + " " + right);
  }
  for (const AddedToken& token : definition.added)
    v.types[static_cast<size_t>(token.id)] = token.special ? kControl : kUserDefined;
  for (size_t id = 0; id < v.tokens.size(); ++id) {
    if (!v.tokens[id].empty()) continue;
    v.tokens[id] = fmt::format("<unused {}>", id);  // an id that no token has still needs a name
    v.types[id] = kUnused;
  }
  return v;
}

// Characters as a vocabulary without merges: llama.cpp then takes each character of a piece by itself.
Vocabulary char_vocabulary(const Tokenizer& tokenizer, const std::string& name) {
  Vocabulary v;
  v.pre = "gpt-2";
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    const bool special = id == tokenizer.bos();
    const std::string text = special ? tokenizer.token_text(id) : tokenizer.decode(std::span(&id, 1));
    if (!special && text.size() != 1) {
      refuse(
          "{}: llama.cpp has no vocabulary of characters beyond ASCII (this one has {}), so its ids would "
          "differ",
          name, in_quotes(text));
    }
    v.tokens.push_back(special ? text : to_byte_level(text));
    v.types.push_back(special ? kControl : kNormal);
  }
  return v;
}

}  // namespace

GgufTokenizer read_gguf_tokenizer(const GgufFile& file) {
  return Reader(file).read();
}

void write_gguf_tokenizer(GgufWriter& keys, const Tokenizer& tokenizer, const EndTokens& ends,
                          const std::string& name) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  if (bpe == nullptr && tokenizer.kind() != "char")
    refuse("{}: llama.cpp has no {} tokenizer; export it with --to hf or safetensors", name,
           tokenizer.kind());
  const Vocabulary v = bpe != nullptr ? bpe_vocabulary(*bpe, name) : char_vocabulary(tokenizer, name);
  keys.text("tokenizer.ggml.model", "gpt2");
  keys.text("tokenizer.ggml.pre", v.pre);
  keys.texts("tokenizer.ggml.tokens", v.tokens);
  keys.i32s("tokenizer.ggml.token_type", v.types);
  keys.texts("tokenizer.ggml.merges", v.merges);
  if (ends.begin) keys.u32("tokenizer.ggml.bos_token_id", static_cast<uint32_t>(*ends.begin));
  if (!ends.ends.empty()) keys.u32("tokenizer.ggml.eos_token_id", static_cast<uint32_t>(ends.ends.front()));
  if (const auto unknown = tokenizer.unk())
    keys.u32("tokenizer.ggml.unknown_token_id", static_cast<uint32_t>(*unknown));
  keys.flag("tokenizer.ggml.add_bos_token", bpe != nullptr && bpe->bos().has_value());
  keys.flag("tokenizer.ggml.add_eos_token", false);
}

}  // namespace tril
