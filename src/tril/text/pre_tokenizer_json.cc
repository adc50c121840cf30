#include "tril/text/pre_tokenizer_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "tril/base/error.h"

namespace tril {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostStages = 16;

std::string type_of(const Json& part, const char* what, const std::string& name) {
  if (!part.is_object() || !part.contains("type") || !part["type"].is_string()) {
    refuse("{}: the {} has no type: {}", name, what, part.dump());
  }
  return part["type"].get<std::string>();
}

bool flag(const Json& part, const char* key, bool missing) {
  const auto found = part.find(key);
  return found != part.end() && found->is_boolean() ? found->get<bool>() : missing;
}

/// The parts of a Sequence, or the part itself. A Sequence in a Sequence is flattened, to a depth that no
/// real file reaches.
void flatten(const Json& part, const char* what, const char* list, const std::string& name, int depth,
             std::vector<const Json*>& parts) {
  if (type_of(part, what, name) != "Sequence") {
    parts.push_back(&part);
  } else {
    if (!part.contains(list) || !part[list].is_array()) refuse("{}: a Sequence without '{}'", name, list);
    for (const Json& inner : part[list]) {
      if (depth == 4) refuse("{}: Sequences more than 4 deep in the {}", name, what);
      flatten(inner, what, list, name, depth + 1, parts);
    }
  }
  if (parts.size() > kMostStages) refuse("{}: more than {} parts in the {}", name, kMostStages, what);
}

PreTokenizer::Stage split_stage(const Json& part, const std::string& name) {
  const Json pattern = part.contains("pattern") ? part["pattern"] : Json();
  std::string source;
  if (pattern.is_object() && pattern.contains("Regex") && pattern["Regex"].is_string()) {
    source = pattern["Regex"].get<std::string>();
  } else if (pattern.is_object() && pattern.contains("String") && pattern["String"].is_string()) {
    source = quote_regex(pattern["String"].get<std::string>());
  } else {
    refuse("{}: the pattern of a Split is {}, neither Regex nor String", name, pattern.dump());
  }
  const bool invert = flag(part, "invert", false);
  const std::string behavior = part.contains("behavior") && part["behavior"].is_string()
                                   ? part["behavior"].get<std::string>()
                                   : std::string("missing");
  constexpr std::pair<const char*, SplitBehavior> kBehaviors[] = {
      {"Isolated", SplitBehavior::kIsolated},
      {"Removed", SplitBehavior::kRemoved},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous}};
  for (const auto& [word, value] : kBehaviors) {
    if (behavior != word) continue;
    // The known patterns match everything, so that keeping matches and removing what lies between is no cut.
    const bool plain = value == SplitBehavior::kIsolated || (value == SplitBehavior::kRemoved && invert);
    if (const auto known = known_pattern(source); known && plain) return *known;
    try {
      return SplitRegex(source, value, invert);
    } catch (const Refusal& refusal) {
      refuse("{}: {}", name, refusal.what());
    }
  }
  refuse("{}: the behavior of a Split is '{}', which tril does not have", name, behavior);
}

}  // namespace

PreTokenizer read_pre_tokenizer(const Json& part, const std::string& name, bool& add_prefix_space) {
  std::vector<const Json*> parts;
  if (!part.is_null()) flatten(part, "pre_tokenizer", "pretokenizers", name, 0, parts);
  std::vector<PreTokenizer::Stage> stages;
  bool byte_level = false;
  add_prefix_space = false;
  for (const Json* each : parts) {
    const std::string type = type_of(*each, "pre_tokenizer", name);
    if (byte_level)
      refuse("{}: the pre-tokenizer '{}' stands behind ByteLevel, where tril has none", name, type);
    if (type == "Split") {
      stages.push_back(split_stage(*each, name));
    } else if (type == "Digits") {
      stages.push_back(flag(*each, "individual_digits", false) ? SplitPattern::kDigits
                                                               : SplitPattern::kDigitRuns);
    } else if (type == "ByteLevel") {
      byte_level = true;
      add_prefix_space = flag(*each, "add_prefix_space", true);
      if (add_prefix_space && !stages.empty()) {
        refuse("{}: ByteLevel with add_prefix_space behind another pre-tokenizer is not supported", name);
      }
      if (flag(*each, "use_regex", true)) stages.push_back(SplitPattern::kGpt2);
    } else {
      refuse(
          "{}: the pre-tokenizer type '{}' is not supported; tril has ByteLevel, Split, Digits and Sequence",
          name, type);
    }
  }
  if (!byte_level) {
    refuse("{}: the pre_tokenizer has no ByteLevel: BPE over characters is not supported, only over bytes",
           name);
  }
  if (stages.empty()) stages.push_back(SplitPattern::kWhole);
  return PreTokenizer(std::move(stages));
}

void refuse_unless_known_normalizer(const Json& part, const std::string& name) {
  if (part.is_null()) return;
  std::vector<const Json*> parts;
  flatten(part, "normalizer", "normalizers", name, 0, parts);
  for (const Json* each : parts) {
    refuse("{}: the normalizer type '{}' is not supported for BPE; tril keeps text byte for byte", name,
           type_of(*each, "normalizer", name));
  }
}

void refuse_unless_known_decoder(const Json& part, const std::string& name) {
  if (part.is_null()) return;
  std::vector<const Json*> parts;
  flatten(part, "decoder", "decoders", name, 0, parts);
  for (const Json* each : parts) {
    const std::string type = type_of(*each, "decoder", name);
    if (type != "ByteLevel" && type != "Fuse") {
      refuse("{}: the decoder type '{}' is not supported for BPE; tril has ByteLevel", name, type);
    }
  }
}

std::pair<std::string, std::string> read_post_processor(const Json& part, const std::string& name) {
  std::pair<std::string, std::string> ends;
  if (part.is_null()) return ends;
  std::vector<const Json*> parts;
  flatten(part, "post_processor", "processors", name, 0, parts);
  for (const Json* each : parts) {
    const std::string type = type_of(*each, "post_processor", name);
    if (type == "ByteLevel") continue;
    try {
      if (type == "TemplateProcessing") {
        bool behind = false;
        for (const Json& item : each->at("single")) {
          if (item.contains("Sequence")) {
            behind = true;
          } else {
            (behind ? ends.second : ends.first) = item.at("SpecialToken").at("id").get<std::string>();
          }
        }
      } else if (type == "BertProcessing" || type == "RobertaProcessing") {
        ends = {each->at("cls").at(0).get<std::string>(), each->at("sep").at(0).get<std::string>()};
      } else {
        refuse("{}: the post_processor type '{}' is not supported", name, type);
      }
    } catch (const Json::exception&) {
      refuse("{}: the post_processor is not as its type {} needs: {}", name, type, each->dump());
    }
  }
  return ends;
}

std::string byte_level_json() {
  return R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
}

namespace {

constexpr const char* kBytesOnly =
    R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false})";

std::string before_bytes(const std::string& stage) {
  return fmt::format(R"({{"type": "Sequence", "pretokenizers": [{}, {}]}})", stage, kBytesOnly);
}

}  // namespace

std::string split_json(std::string_view source) {
  return before_bytes(fmt::format(
      R"({{"type": "Split", "pattern": {{"Regex": {}}}, "behavior": "Isolated", "invert": false}})",
      Json(source).dump()));
}

std::string pre_tokenizer_json(SplitPattern pattern) {
  switch (pattern) {
    case SplitPattern::kGpt2:
      return byte_level_json();
    case SplitPattern::kWhole:
      return kBytesOnly;
    case SplitPattern::kDigits:
    case SplitPattern::kDigitRuns:
      return before_bytes(
          fmt::format(R"({{"type": "Digits", "individual_digits": {}}})", pattern == SplitPattern::kDigits));
    default:
      return split_json(pattern_source(pattern));
  }
}

std::string named_pre_tokenizer_json(std::string_view name) {
  if (name == "gpt-2") return pre_tokenizer_json(SplitPattern::kGpt2);
  if (name == "llama-bpe" || name == "llama3" || name == "llama-v3" || name == "dbrx" || name == "smaug-bpe")
    return pre_tokenizer_json(SplitPattern::kGpt4);
  if (name == "qwen2") return pre_tokenizer_json(SplitPattern::kQwen2);
  if (name == "gpt-4o") return split_json(kO200kSource);
  if (name == "smollm" || name == "starcoder" || name == "refact") {
    return fmt::format(
        R"({{"type": "Sequence", "pretokenizers": [{{"type": "Digits", "individual_digits": true}}, {}]}})",
        byte_level_json());
  }
  refuse("the pre-tokenizer '{}' is not supported; tril has gpt-2, smollm, llama-bpe, qwen2 and gpt-4o",
         name);
}

}  // namespace tril
