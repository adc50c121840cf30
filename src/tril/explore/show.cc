#include "tril/explore/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/json_depth.h"
#include "tril/base/quote.h"
#include "tril/base/sniff.h"
#include "tril/base/table.h"
#include "tril/explore/show_model.h"
#include "tril/explore/show_run.h"
#include "tril/formats/gguf.h"
#include "tril/formats/hf_config.h"
#include "tril/formats/hf_folder.h"
#include "tril/formats/npz.h"
#include "tril/formats/peft.h"
#include "tril/formats/safetensors.h"
#include "tril/formats/tensor_range.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/config.h"
#include "tril/train/run_folder.h"

namespace tril {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

Shown show_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  Shown shown{path, "safetensors"};
  add_tensors(shown, file.tensors());
  shown.metadata = json(file.metadata()).dump();
  return shown;
}

Shown show_npz(const std::string& path) {
  const NpzFile file(path);
  Shown shown{path, file.is_archive() ? "npz" : "npy"};
  add_tensors(shown, file.tensors());
  return shown;
}

/// A value as JSON; of a long array its type, length and first elements.
ordered_json gguf_value(const GgufFile& file, const std::string& key, const GgufValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value)) return std::string(*text);
  const auto* array = std::get_if<GgufArray>(&value);
  if (array == nullptr) {
    return std::visit(
        [](const auto& number) -> ordered_json {
          if constexpr (std::is_arithmetic_v<std::decay_t<decltype(number)>>) return number;
          return {};
        },
        value);
  }
  constexpr size_t kShown = 8;
  ordered_json first = ordered_json::array();
  const auto show_first = [&](const auto& elements) {
    for (size_t i = 0; i < std::min(kShown, elements.size()); ++i) first.push_back(elements[i]);
  };
  if (array->type == GgufType::kString) show_first(file.strings(key));
  if (array->type == GgufType::kF32) show_first(file.floats(key));
  if (array->type == GgufType::kI32) show_first(file.integers(key));
  return {{"array", std::string(name_of(array->type))}, {"length", array->count}, {"first", first}};
}

Shown show_gguf(const std::string& path) {
  const GgufFile file(path);
  Shown shown{path, "gguf"};
  ordered_json metadata = {{"version", file.view().version}};
  for (const auto& [key, value] : file.view().values) metadata[key] = gguf_value(file, key, value);
  shown.metadata = metadata.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::vector<float> values;
  for (const GgufTensor& tensor : file.tensors()) {
    TensorRange range;
    if (tensor.type->readable) {
      values.resize(static_cast<size_t>(tensor.elements()));
      file.to_float(tensor, values);
      range = range_of({"",
                        StoredType::kF32,
                        {tensor.elements()},
                        {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)}});
    } else {
      shown.warnings.push_back(fmt::format("{}: tensor {} is of type {}, whose values tril doesn't read",
                                           path, in_quotes(tensor.name), tensor.type->name));
    }
    add_tensor(shown, tensor.name, tensor.type->name, tensor.shape, range);
  }
  if (file.view().unused > 0) {
    shown.warnings.push_back(fmt::format("{}: {} bytes belong to no tensor", path, file.view().unused));
  }
  return shown;
}

/// Ids between 0 and the largest that no token has.
std::vector<int64_t> gaps_in_ids(const json& tokenizer) {
  std::set<int64_t> ids;
  const auto add = [&](const json& id) {
    if (id.is_number_integer() && id.get<int64_t>() >= 0) ids.insert(id.get<int64_t>());
  };
  const json vocabulary = tokenizer.value("/model/vocab"_json_pointer, json());
  if (vocabulary.is_object()) {
    for (const auto& [token, id] : vocabulary.items()) add(id);
  }
  const json added = tokenizer.value("/added_tokens"_json_pointer, json());
  if (added.is_array()) {
    for (const json& token : added) {
      if (token.is_object()) add(token.value("id", json()));
    }
  }
  const size_t most =
      ids.size() + 1000;  // beyond that it is no vocabulary, and the tokenizer's reader says so
  std::vector<int64_t> gaps;
  int64_t expected = 0;
  for (const int64_t id : ids) {
    for (; expected < id && gaps.size() < most; ++expected) gaps.push_back(expected);
    expected = id + 1;
  }
  return gaps;
}

std::string list_gaps(const std::vector<int64_t>& gaps) {
  constexpr size_t kListed = 5;
  const size_t listed = std::min(gaps.size(), kListed);
  const std::string list =
      fmt::format("{}", fmt::join(gaps.begin(), gaps.begin() + static_cast<long>(listed), ", "));
  return listed == gaps.size() ? list : fmt::format("{} ... ({} in all)", list, gaps.size());
}

/// The tokenizer; where nothing but its gaps stands in the way, the one with the gaps filled.
std::shared_ptr<const Tokenizer> read_tokenizer(const std::string& bytes, const std::string& path,
                                                const json& parsed, const std::vector<int64_t>& gaps) {
  try {
    return parse_tokenizer(bytes, path);
  } catch (const Refusal& refusal) {
    if (gaps.empty() || !parsed["model"].is_object() || !parsed["model"]["vocab"].is_object()) throw;
    json filled = parsed;
    for (const int64_t gap : gaps) filled["model"]["vocab"][fmt::format("<gap {}>", gap)] = gap;
    try {
      return parse_tokenizer(filled.dump(), path);
    } catch (const Refusal&) {
      throw refusal;  // there is more to it than gaps: what is wrong with the file itself
    }
  }
}

Shown show_tokenizer(const std::string& path, const std::string& bytes, const json& parsed) {
  Shown shown{path, "tokenizer"};
  const std::vector<int64_t> gaps = gaps_in_ids(parsed);
  const auto tokenizer = read_tokenizer(bytes, path, parsed, gaps);
  if (!gaps.empty())
    shown.warnings.push_back(fmt::format("{}: no token has the id {}", path, list_gaps(gaps)));
  ordered_json metadata = {{"tokenizer", std::string(tokenizer->kind())},
                           {"vocab_size", tokenizer->vocab_size()},
                           {"fingerprint", tokenizer->fingerprint()}};
  const auto special = [&](const char* name, std::optional<int32_t> id) {
    if (id) metadata[name] = {{"id", *id}, {"text", tokenizer->token_text(*id)}};
  };
  special("pad", tokenizer->pad());
  special("bos", tokenizer->bos());
  special("eos", tokenizer->eos());
  special("unk", tokenizer->unk());
  shown.metadata = metadata.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  return shown;
}

/// A JSON file; discarded where it is none.
json parse_json(const std::string& bytes, const std::string& path) {
  const size_t start = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  if (bytes.find('\0') != bytes.npos) return json::value_t::discarded;  // parse_json_file says what it is
  require_parsable(bytes, path);
  return json::parse(bytes.begin() + static_cast<long>(start), bytes.end(), nullptr, false);
}

/// Hugging Face's config.json; what keeps tril from importing such a model is a warning.
Shown show_config_json(const std::string& path, const json& parsed) {
  Shown shown{path, "config.json", {}, parsed.dump(), {}};
  try {
    parse_hf_config(parsed, path);
  } catch (const Refusal& refusal) {
    shown.warnings.emplace_back(refusal.what());
  }
  return shown;
}

/// model.safetensors.index.json: which tensor lies in which file. Warns of files that are not beside it.
Shown show_index(const std::string& path, const json& parsed) {
  const json& map = parsed.at("weight_map");
  if (!map.is_object()) refuse("{}: its weight_map is no object", path);
  std::map<std::string, int64_t> files;
  for (const auto& [tensor, file] : map.items()) {
    if (!file.is_string()) refuse("{}: the file of tensor {} is no string", path, in_quotes(tensor));
    ++files[file.get<std::string>()];
  }
  Shown shown{path, "index of weights"};
  for (const auto& [file, count] : files) {
    if (!is_name_beside(file)) {
      shown.warnings.push_back(
          fmt::format("{}: {} is no name of a file in its own folder", path, in_quotes(file)));
    } else if (!file_exists((std::filesystem::path(path).parent_path() / file).string())) {
      shown.warnings.push_back(
          fmt::format("{}: {}, which holds {} tensors, is not beside it", path, in_quotes(file), count));
    }
  }
  shown.metadata = ordered_json{{"tensors", map.size()}, {"files", files}}.dump(
      -1, ' ', false, ordered_json::error_handler_t::replace);
  return shown;
}

/// What a JSON file of tril's own or of PEFT's is by its name; "" for any other.
std::string kind_by_name(const std::string& path) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"state.json", "a checkpoint's state"},
      {"data.json", "a run's record of its text"},
      {"best.json", "a run's pointer to its best checkpoint"},
      {"last.json", "a run's pointer to its last checkpoint"},
      {"result.json", "a run's result"},
      {"generation_config.json", "generation_config.json"},
      {"adapter_config.json", "a PEFT adapter's settings"}};
  const std::string name = std::filesystem::path(path).filename().string();
  for (const auto& [known, kind] : kKinds)
    if (name == known) return std::string(kind);
  return "";
}

/// An adapter in PEFT's format: its settings and its tensors. What keeps tril from using it is a warning.
Shown show_peft(const std::string& path) {
  const std::string config = path + "/adapter_config.json", weights = path + "/adapter_model.safetensors";
  const std::string bytes = read_file(config);
  const json parsed = parse_json(bytes, config);
  if (!parsed.is_object()) {
    parse_json_file(bytes, config);  // says what is wrong with it
    refuse("{}: is no JSON object", config);
  }
  Shown shown{path, "PEFT adapter", {}, parsed.dump(), {}};
  add_tensors(shown, SafetensorsFile(weights).tensors());
  if (!shown.warnings.empty()) return shown;
  try {
    const PeftAdapter adapter(path);
  } catch (const Refusal& refusal) {
    shown.warnings.emplace_back(refusal.what());
  }
  return shown;
}

Shown show_json(const std::string& path) {
  const std::string bytes = read_file(path);
  const json parsed = parse_json(bytes, path);
  if (parsed.is_object() && parsed.contains("weight_map")) return show_index(path, parsed);
  if (parsed.is_object() && parsed.contains("model_type")) return show_config_json(path, parsed);
  if (const std::string kind = kind_by_name(path); !kind.empty() && parsed.is_object())
    return {path, kind, {}, parsed.dump(), {}};
  if (parsed.is_object() && parsed.contains("model")) return show_tokenizer(path, bytes, parsed);
  parse_json_file(bytes, path);  // says what is wrong with it
  refuse(
      "{}: is none of the JSON files that tril show knows: tokenizer.json (it has no \"model\"), config.json "
      "(it has no \"model_type\"), an index of weights (it has no \"weight_map\"), and by their names "
      "adapter_config.json, generation_config.json and a run's state.json, data.json, result.json, best.json "
      "and last.json",
      path);
}

ordered_json settings_of(const Config& config) {
  ordered_json settings = {{"preset", config.preset}};
  for (const ConfigKey& key : config_keys()) {
    std::visit([&](const auto& value) { settings[key.section][key.name] = value; }, get_value(config, key));
  }
  return settings;
}

Config read_config(const std::string& path) {
  ConfigBuilder builder;
  builder.add_file(path);
  return builder.finish();
}

Shown show_config(const std::string& path) {
  return {path, "config", {}, settings_of(read_config(path)).dump(), {}};
}

Shown show_folder(const std::string& path) {
  if (file_exists(path + "/config.toml")) return show_run(path);
  if (file_exists(path + "/state.json")) return show_checkpoint(path);
  if (file_exists(path + "/config.json")) return show_foreign_model(path, "huggingface");
  if (file_exists(path + "/adapter_config.json")) return show_peft(path);
  refuse(
      "{}: holds no run (config.toml), no Hugging Face model (config.json), no PEFT adapter "
      "(adapter_config.json) and is no checkpoint (state.json); name one of its files",
      path);
}

bool ends_with(const std::string& path, std::string_view end) {
  return path.ends_with(end);
}
}  // namespace

void add_tensors(Shown& shown, const std::vector<StoredTensor>& tensors, const std::string& prefix) {
  for (const StoredTensor& tensor : tensors) {
    add_tensor(shown, prefix + tensor.name, name_of(tensor.type), tensor.shape, range_of(tensor));
  }
}

void add_tensor(Shown& shown, const std::string& name, std::string_view type,
                const std::vector<int64_t>& shape, const TensorRange& range) {
  shown.tensors.push_back({name, std::string(type), shape, range.finite > 0, range.smallest, range.largest});
  const int64_t all = range.finite + range.nan + range.infinite;
  const auto warn = [&](int64_t count, const char* what) {
    if (count == 0) return;
    shown.warnings.push_back(fmt::format("{}: tensor {} holds {} ({} of {} elements)", shown.path,
                                         in_quotes(name), what, count, all));
  };
  warn(range.nan, "NaN");
  warn(range.infinite, "infinities");
}

Shown show(const std::string& path) {
  if (folder_exists(path)) return show_folder(path);
  if (ends_with(path, ".safetensors")) return show_safetensors(path);
  if (ends_with(path, ".npz") || ends_with(path, ".npy")) return show_npz(path);
  if (ends_with(path, ".gguf")) return show_gguf(path);
  if (ends_with(path, ".bin")) return show_bin(path);
  if (ends_with(path, ".toml")) return show_config(path);
  if (ends_with(path, ".json")) return show_json(path);
  const MappedFile file(path);
  const auto seen = sniff(file.bytes().substr(0, kSniffBytes), file.bytes().size());
  if (seen && seen->kind == FileKind::kSafetensors) return show_safetensors(path);
  if (seen && (seen->kind == FileKind::kNpz || seen->kind == FileKind::kNumpy)) return show_npz(path);
  if (seen && seen->kind == FileKind::kGguf) return show_gguf(path);
  if (seen) refuse("{}: looks like {}; {}", path, seen->name, seen->advice);
  if (file.bytes().starts_with("{")) return show_json(path);
  refuse(
      "{}: tril show knows safetensors, GGUF, npz, npy, llama2.c's and token ids' .bin, tokenizer.json, "
      "config.toml, config.json, Hugging Face folders, checkpoints and runs",
      path);
}

std::string shown_as_json(const Shown& shown) {
  ordered_json tensors = ordered_json::array();
  for (const ShownTensor& tensor : shown.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", tensor.dtype},
                       {"shape", tensor.shape},
                       {"min", tensor.has_range ? ordered_json(tensor.min) : ordered_json()},
                       {"max", tensor.has_range ? ordered_json(tensor.max) : ordered_json()}});
  }
  return ordered_json{
      {"kind", shown.kind}, {"tensors", tensors}, {"metadata", ordered_json::parse(shown.metadata)}}
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string shown_as_text(const Shown& shown) {
  std::string text = fmt::format("{}: {}\n", shown.path, shown.kind);
  const ordered_json metadata = ordered_json::parse(shown.metadata);
  for (const auto& [key, value] : metadata.items()) {
    text += fmt::format("  {}: {}\n", escaped(key),
                        value.is_string() ? escaped(value.get<std::string>()) : value.dump());
  }
  if (shown.tensors.empty()) return text;
  Table table({"tensor", "type", "shape", "min", "max"});
  int64_t count = 0;
  for (const ShownTensor& tensor : shown.tensors) {
    int64_t size = 1;
    for (const int64_t dimension : tensor.shape) size *= dimension;
    count += size;
    const auto shown_number = [&](double value) {
      return tensor.has_range ? fmt::format("{:.6g}", value) : "-";
    };
    table.row({escaped(tensor.name), tensor.dtype, fmt::format("[{}]", fmt::join(tensor.shape, ", ")),
               shown_number(tensor.min), shown_number(tensor.max)});
  }
  return fmt::format("{}{}{}, {}\n", text, table.text(),
                     counted(static_cast<long long>(shown.tensors.size()), "tensor"),
                     counted(count, "number"));
}

}  // namespace tril
