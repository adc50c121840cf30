// A trained run, opened for use: its settings, its tokenizer and its model. Nothing in the folder is changed.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tril/data/corpus.h"
#include "tril/formats/hf_config.h"
#include "tril/model/model.h"
#include "tril/text/added_tokens.h"
#include "tril/text/tokenizer.h"
#include "tril/train/checkpoint.h"
#include "tril/train/settings.h"

namespace tril {

struct LoadedRun {
  std::string path;
  Config config;  // model.vocab_size is set
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const LoadedCheckpoint> checkpoint;
  std::unique_ptr<Model> model;
  int64_t step = 0;       // whose weights these are
  std::string source;     // SHA-256 of the text they were trained on; "" where the checkpoint keeps none
  bool imported = false;  // by import: it has no text of its own
  /// What ends a generation: generation_config.json where the run has one, else the tokenizer's end token.
  EndTokens ends;
  /// True where training examples began with the tokenizer's BOS: then a prompt does too.
  bool begins_with_bos = false;
  /// Special tokens written out in a prompt or text are text unless this says otherwise (BPE only).
  Specials specials = Specials::kAsText;
};

/// Where the file for `ends` lies in a run; train does not write it, import does.
inline constexpr const char* kGenerationConfig = "generation_config.json";

/// kInference: weights are read where the checkpoint's mapped file has them, and nothing may write to them.
/// The SHA-256 of a large file is then taken meanwhile: once the work is done and before it is believed,
/// checkpoint->finish_verifying() throws Damaged where the file was changed.
enum class Use : uint8_t { kAny, kInference };

/// What the command line says over a run's own [run] section; empty or 0 keeps it.
struct RunOverrides {
  std::string engine, dtype;
};

/// The best checkpoint, or that of `step`. Throws Refusal where it is no run, has no such checkpoint, or its
/// files don't fit together. Memory is asked for by what the checkpoint's file holds, not by what config.toml
/// says.
LoadedRun load_run(const std::string& path, std::optional<int64_t> step = std::nullopt,
                   const RunOverrides& overrides = {}, Use use = Use::kAny);

/// Warns where the model's positions see their own targets (model.mask = "none"), so that a loss tells
/// nothing.
void warn_of_seen_targets(const LoadedRun& run);

/// The run's own text, read again with its tokenizer. Throws Refusal where it is not what the run was trained
/// on any more. `announce`: notes and warnings on the text are printed.
Corpus open_corpus(const LoadedRun& run, bool announce = true);

/// The ids a prompt or text becomes: BOS first where the model was trained with one and the text does not
/// bring it.
std::vector<int32_t> prompt_ids(const LoadedRun& run, std::string_view text);

}  // namespace tril
