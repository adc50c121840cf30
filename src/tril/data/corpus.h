// The corpus: everything that training needs from text, made from the [data] settings in one call: source →
// documents → split → vocabulary → ids, with the audit and the manifest beside them. The same settings and
// the same bytes give the same corpus, whatever the locale or the machine. It leaves out drawing batches
// (train) and text that does not fit in memory.
#pragma once
#include <array>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "tril/data/audit.h"
#include "tril/data/settings.h"
#include "tril/data/split.h"
#include "tril/data/tokens.h"
#include "tril/text/tokenizer.h"

namespace tril {

struct SourceInfo {
  std::string kind;  // "file", "folder", "jsonl", "text" or "tales"
  std::string path;
  int64_t bytes = 0;
  int64_t files = 0;
  std::string sha256;
};

struct Corpus {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::array<Tokens, kParts> parts;
  DataSettings settings;  // as given
  SourceInfo source;
  Audit audit;

  const Tokens& part(Part which) const { return parts[static_cast<size_t>(which)]; }
  const Tokens& train() const { return part(Part::kTrain); }
  const Tokens& validation() const { return part(Part::kValidation); }
  const Tokens& test() const { return part(Part::kTest); }
};

struct CorpusOptions {
  /// Used as it is in place of what settings.tokenizer says: another text for a trained model, a resumed run.
  std::shared_ptr<const Tokenizer> tokenizer;
  /// Char tokenizer: each document stands between two <BOS>, the vocabulary's last id (train.batches =
  /// documents).
  bool document_bounds = false;
  /// Notes and warnings are printed as well as kept in the audit.
  bool announce = true;
};

/// Reads, cuts, splits and tokenizes a source.
///   word:       documents BOS w1 … wn EOS; split hash (or auto) or none
///   char, bpe:  id streams; split hash, tail, none, or auto: hash where there are several documents, else
///   tail
/// Throws Refusal where the source can't be read or holds no trainable text, and on settings that don't fit
/// together.
Corpus build_corpus(const DataSettings& settings, const CorpusOptions& options = {});

/// data.json of a run: source, settings, audit, tokenizer's fingerprint.
nlohmann::json manifest_json(const Corpus& corpus);

/// Throws Refusal that tells both hashes where the corpus comes from other bytes than the manifest of a run
/// says, or gives another tokenizer.
void require_same_source(const nlohmann::json& manifest, const Corpus& corpus);

/// The settings as JSON, every key of the [data] section.
nlohmann::json data_settings_json(const DataSettings& settings);

}  // namespace tril
