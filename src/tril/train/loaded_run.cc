#include "tril/train/loaded_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"
#include "tril/formats/convert_tensor.h"
#include "tril/model/parameter_count.h"
#include "tril/model/registry.h"
#include "tril/text/bpe.h"
#include "tril/text/load_tokenizer.h"
#include "tril/train/import_run.h"
#include "tril/train/run_data.h"
#include "tril/train/run_folder.h"
#include "tril/train/run_settings.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

bool aligned(const StoredTensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.bytes.data()) % static_cast<uintptr_t>(size_of(tensor.type)) == 0;
}

// Weights of another type are converted: a run trained in f64 can be read in f32 and the other way round.
// Those of the same type may be left where they lie.
void take_weights(const std::shared_ptr<const LoadedCheckpoint>& checkpoint, Parameters& parameters,
                  Use use) {
  const SafetensorsFile& file = checkpoint->model();
  std::vector<TensorSpec> expected;
  for (int i = 0; i < parameters.size(); ++i) {
    StoredTensor here = stored(parameters.info(i).name, parameters.value(i));
    if (const StoredTensor* there = file.find(here.name)) here.type = there->type;
    expected.push_back({here.name, here.type, here.shape});
  }
  require_tensors(file, expected);
  for (int i = 0; i < parameters.size(); ++i) {
    const StoredTensor& from = *file.find(parameters.info(i).name);
    const Tensor to = parameters.value(i);
    const bool same = stored("", to).type == from.type;
    if (same && use == Use::kInference && aligned(from)) {
      parameters.borrow(i, from.bytes.data());
    } else {
      copy_converted(from, to, checkpoint->folder());
    }
  }
}

// Before a model of the configuration's sizes is made: it must be as large as the one in the file.
void require_parameter_count(const ModelConfig& config, const SafetensorsFile& file) {
  int64_t held = 0;
  for (const StoredTensor& tensor : file.tensors()) held += elements(tensor);
  if (const int64_t wanted = parameter_count(config); wanted != held)
    refuse("{}: holds {} parameters, the configuration needs {}: the checkpoint is of another model",
           file.path(), with_commas(held), with_commas(wanted));
}

EndTokens ends_of(const RunFolder& folder, const LoadedRun& run) {
  if (folder.has(kGenerationConfig)) {
    const std::string path = folder.at(kGenerationConfig);
    if (const auto stated = parse_generation_config(parse_json_file(read_file(path), path), path))
      return *stated;
  }
  EndTokens ends;
  ends.begin = run.tokenizer->bos();
  if (const auto end = run.tokenizer->eos()) {
    ends.ends = {*end};
  } else if (run.begins_with_bos) {
    ends.ends = {*run.tokenizer->bos()};
  }
  return ends;
}

// tokenizer.json's own bytes have the fingerprint where they are as tril wrote them; else it is worked out.
std::string fingerprint_of(const std::string& path, const LoadedRun& run) {
  const std::string digest = sha256_hex(read_file(path));
  return digest == run.checkpoint->tokenizer() ? digest : run.tokenizer->fingerprint();
}

// A tokenizer that has grown since: its last tokens would lie beyond the table.
void require_rows(const LoadedRun& run, const LoadedCheckpoint& checkpoint) {
  const StoredTensor* table = checkpoint.model().find("token_embedding.weight");
  if (table == nullptr || table->shape.empty() || table->shape[0] >= run.tokenizer->vocab_size()) return;
  refuse(
      "{}: the tokenizer has {} tokens, the model of {} {} rows for them; put back the tokenizer it was "
      "trained with",
      run.path + "/tokenizer.json", run.tokenizer->vocab_size(), checkpoint.folder(), table->shape[0]);
}

// All but the checkpoint's own checks.
void read_into(LoadedRun& run, const RunFolder& folder, const RunSettingsFile& settings,
               const std::shared_ptr<const LoadedCheckpoint>& opened, const RunOverrides& overrides,
               Use use) {
  const LoadedCheckpoint& checkpoint = *opened;
  require_same_settings(settings, checkpoint);
  run.checkpoint = opened;
  run.config = settings.config;
  if (!overrides.engine.empty()) run.config.run.engine = overrides.engine;
  if (!overrides.dtype.empty()) run.config.run.dtype = overrides.dtype;
  if (overrides.engine == "fast" && overrides.dtype.empty()) run.config.run.dtype = "f32";
  const std::string tokenizer = folder.at("tokenizer.json");
  if (surely_missing(tokenizer))
    refuse("{}: is missing; put it back, or have it made again from the run's text: {}", tokenizer,
           typed({"resume", folder.path()}));
  run.tokenizer = load_tokenizer(tokenizer);
  run.config.model.vocab_size = run.tokenizer->vocab_size();
  require_rows(run, checkpoint);
  checkpoint.require_tokenizer(fingerprint_of(tokenizer, run), tokenizer);
  if (const std::string data = folder.at("data.json"); !surely_missing(data))
    require_same_text(data, read_manifest(data), checkpoint.source());
  require_parameter_count(run.config.model, checkpoint.model());
  run.model = make_model(run.config.model, dtype_of(run.config.run));
  take_weights(opened, run.model->parameters(), use);
  run.step = checkpoint.step();
  run.source = checkpoint.source();
  run.imported = is_imported(checkpoint);
  run.begins_with_bos = run.tokenizer->bos().has_value() &&
                        (run.model->one_target() || run.config.train.batches == "documents" ||
                         run.tokenizer->kind() == "bpe");  // BPE has a beginning where its file adds it
  run.ends = ends_of(folder, run);
}

}  // namespace

LoadedRun load_run(const std::string& path, std::optional<int64_t> step, const RunOverrides& overrides,
                   Use use) {
  const RunFolder folder = RunFolder::view(path);
  const RunSettingsFile settings = read_run_settings(folder.at("config.toml"));
  const auto parts =
      use == Use::kInference ? LoadedCheckpoint::Parts::kModelLater : LoadedCheckpoint::Parts::kModel;
  const auto opened =
      std::make_shared<const LoadedCheckpoint>(step ? folder.load(*step, parts) : folder.load_best(parts));
  LoadedRun run;
  run.path = path;
  try {
    read_into(run, folder, settings, opened, overrides, use);
  } catch (const Refusal&) {
    opened->finish_verifying();  // that the file was changed is told first
    throw;
  }
  return run;
}

void warn_of_seen_targets(const LoadedRun& run) {
  const ModelConfig& model = run.config.model;
  if (model.family != "decoder" || model.mask == "causal") return;
  log::warn("{}: with model.mask = \"{}\" each position sees its own target: the figure is no prediction",
            run.path, model.mask);
}

Corpus open_corpus(const LoadedRun& run, bool announce) {
  return read_run_text(run.path, run.config, run.tokenizer, run.source, announce);
}

std::vector<int32_t> prompt_ids(const LoadedRun& run, std::string_view text) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(run.tokenizer.get());
  std::vector<int32_t> ids = bpe ? bpe->encode(text, run.specials) : run.tokenizer->encode(text);
  const bool brought = !ids.empty() && ids.front() == run.tokenizer->bos();
  if (run.begins_with_bos && !brought) ids.insert(ids.begin(), *run.tokenizer->bos());
  return ids;
}

}  // namespace tril
