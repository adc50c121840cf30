// The text of a run, and data.json, result.json and the loss curve, read back: the only place that parses
// them, so that a damaged one is always told by its file and key. What it leaves out: making them
// (data/corpus.h, loop.cc).
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tril/data/corpus.h"
#include "tril/train/settings.h"

namespace tril {

/// Throws Refusal where RUN/data.json can't be read, is no JSON, or lacks the text's SHA-256 or the
/// tokenizer's fingerprint.
nlohmann::json read_manifest(const std::string& path);

/// Refuses a manifest whose text is not the checkpoint's own `source` ("": it keeps none).
void require_same_text(const std::string& path, const nlohmann::json& manifest, const std::string& source);

/// Whether RUN/data.json is there. Throws Refusal where it is damaged or of another text than `source`.
bool has_manifest(const std::string& path, const std::string& source);

/// The text that a configuration names, as training reads it; `tokenizer` in place of one made from it.
Corpus read_text(const Config& config, std::shared_ptr<const Tokenizer> tokenizer, bool announce = true);

/// The text of a run, read again. Refuses where it is not the one of data.json (which need not be there) or
/// of the checkpoint's `source`, or gives another tokenizer.
Corpus read_run_text(const std::string& run, const Config& config, std::shared_ptr<const Tokenizer> tokenizer,
                     const std::string& source, bool announce = true);

/// result.json where it is that of a run that ended at `steps`; nullopt where there is none, or that of fewer
/// steps, or, with a warning, where it is damaged: then it is made again.
std::optional<nlohmann::ordered_json> read_result(const std::string& path, int64_t steps);

/// The points of the loss curve, from metrics.jsonl: result.json's `trace`.
nlohmann::ordered_json read_trace(const std::string& metrics_path);

}  // namespace tril
