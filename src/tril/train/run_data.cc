#include "tril/train/run_data.h"

#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/json_depth.h"
#include "tril/base/log.h"
#include "tril/base/typed.h"
#include "tril/train/token_corpus.h"

namespace tril {
namespace {

// What to do about a damaged data.json.
std::string remedy() {
  return "put it back, or remove it and have it made again by: " + typed({"resume"});
}

}  // namespace

nlohmann::json read_manifest(const std::string& path) {
  const std::string text = read_file(path);
  require_parsable(text, path);
  nlohmann::json manifest = nlohmann::json::parse(text, nullptr, false);
  if (!manifest.is_object()) refuse("{}: is not a JSON object (damaged?); {}", path, remedy());
  for (const auto& [part, key] : {std::pair{"source", "sha256"}, std::pair{"tokenizer", "fingerprint"}}) {
    const auto section = manifest.find(part);
    if (section == manifest.end() || !section->is_object() || !section->contains(key) ||
        !(*section)[key].is_string())
      refuse("{}: has no text '{}' in '{}' (damaged?); {}", path, key, part, remedy());
  }
  return manifest;
}

void require_same_text(const std::string& path, const nlohmann::json& manifest, const std::string& source) {
  const auto& said = manifest["source"]["sha256"].get_ref<const std::string&>();
  if (source.empty() || source == said) return;
  refuse(
      "{}: names a text of SHA-256 {}, the checkpoint was trained on one of {}: one of the two is of another "
      "run",
      path, said, source);
}

bool has_manifest(const std::string& path, const std::string& source) {
  if (surely_missing(path)) return false;
  require_same_text(path, read_manifest(path), source);
  return true;
}

Corpus read_text(const Config& config, std::shared_ptr<const Tokenizer> tokenizer, bool announce) {
  CorpusOptions options;
  options.tokenizer = std::move(tokenizer);
  options.document_bounds = config.train.batches == "documents";
  options.announce = announce;
  if (is_token_file(config.data.path)) return token_corpus(config.data, options);
  return build_corpus(config.data, options);
}

Corpus read_run_text(const std::string& run, const Config& config, std::shared_ptr<const Tokenizer> tokenizer,
                     const std::string& source, bool announce) {
  const bool from_input = config.data.path == "-";
  const std::string again = fmt::format(
      "the text of {} came by standard input: give it the same again, as in "
      "{} < FILE",
      run, typed({"resume", run}));
  if (from_input && ::isatty(STDIN_FILENO) != 0) refuse("{}", again);
  try {
    Corpus corpus = read_text(config, std::move(tokenizer), announce);
    if (const std::string path = run + "/data.json"; !surely_missing(path)) {
      const nlohmann::json manifest = read_manifest(path);
      require_same_text(path, manifest, source);
      require_same_source(manifest, corpus);
    } else if (!source.empty() && source != corpus.source.sha256) {
      refuse(
          "{}: was trained on a text of SHA-256 {}, this one has {}; put the old text back, or start a new "
          "run",
          run, source, corpus.source.sha256);
    }
    return corpus;
  } catch (const Refusal& refusal) {
    if (from_input) refuse("{}\n{}", refusal.what(), again);
    throw;
  }
}

namespace {

using Json = nlohmann::ordered_json;

// Whether `object` has each name, with a value for which `is` holds.
template <class Is>
bool has_each(const Json& object, std::initializer_list<const char*> names, const Is& is) {
  return object.is_object() && std::all_of(names.begin(), names.end(), [&](const char* name) {
           return object.contains(name) && is(object[name]);
         });
}

// Whether every field that is shown of a result is there, with a value of its kind.
bool is_result(const Json& result) {
  const auto count = [](const Json& value) { return value.is_number_integer(); };
  const auto number = [](const Json& value) { return value.is_number(); };
  const auto real = [](const Json& value) { return value.is_number() || value.is_null(); };
  const auto parts = [&](const Json& value) {
    return has_each(value, {"train", "validation", "test"}, count);
  };
  const auto times = [&](const Json& value) {
    return has_each(value, {"data", "train", "eval", "total"}, number);
  };
  const auto text = [](const Json& value) { return value.is_string(); };
  const auto point = [&](const Json& value) {
    return has_each(value, {"step", "tokens_seen", "train_batch_loss", "validation_loss"}, real);
  };
  const auto all = [](const Json& list, const auto& is) {
    return list.is_array() && std::all_of(list.begin(), list.end(), is);
  };
  return has_each(result, {"parameters", "vocab_size", "steps", "selected_step", "tokens_seen"}, count) &&
         has_each(result, {"documents", "targets"}, parts) && has_each(result, {"seconds"}, times) &&
         has_each(result, {"validation_loss", "validation_perplexity", "tokens_per_second"}, real) &&
         has_each(result, {"peak_bytes"}, number) && has_each(result, {"run"}, text) &&
         result.contains("trace") && all(result["trace"], point) &&
         (!result.contains("samples") || all(result["samples"], text)) &&
         (!result.contains("trained_parameters") || count(result["trained_parameters"]));
}

}  // namespace

std::optional<nlohmann::ordered_json> read_result(const std::string& path, int64_t steps) {
  if (surely_missing(path)) return std::nullopt;
  const std::string text = read_file(path);
  nlohmann::ordered_json result;
  if (json_depth(text) <= kDeepestJson) result = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!is_result(result)) {
    log::warn("{}: is not the result of a run (damaged?); it is made again", path);
    return std::nullopt;
  }
  if (result["steps"] != steps) return std::nullopt;  // the run was extended since
  return result;
}

nlohmann::ordered_json read_trace(const std::string& metrics_path) {
  Json trace = Json::array();
  const std::string text = read_file(metrics_path);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const Json line = Json::parse(text.substr(start, end - start), nullptr, false);
    start = end + 1;
    if (line.is_discarded() || !line.contains("validation_loss")) continue;
    Json point;
    for (const char* field : {"step", "tokens_seen", "train_batch_loss", "validation_loss"})
      point[field] = line.contains(field) && line[field].is_number() ? line[field] : Json();
    trace.push_back(std::move(point));
  }
  return trace;
}

}  // namespace tril
