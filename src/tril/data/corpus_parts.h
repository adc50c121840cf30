// The two ways from documents to ids, for corpus.cc alone: words in windows (word_corpus.cc) and streams of
// characters or BPE pieces (stream_corpus.cc).
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "tril/base/table.h"
#include "tril/data/corpus.h"
#include "tril/data/documents.h"

namespace tril {

/// What both fill: corpus.tokenizer (made where it is null), corpus.parts, and the audit's counts.
struct CorpusWork {
  const DataSettings& settings;
  const CorpusOptions& options;
  const Source& source;
  Documents documents;
  Corpus& corpus;
  std::vector<int64_t> lengths = {};  // tokens of each document, for the audit

  void note(const std::string& text) const;
  void warn(const std::string& text) const;
};

/// Sorts by id, twins in their order. Where the hash gives none to training, each trains, and it is said.
template <class Document>
void place_by_hash(std::vector<Document>& documents, const CorpusWork& work) {
  std::stable_sort(documents.begin(), documents.end(),
                   [](const Document& a, const Document& b) { return a.id < b.id; });
  const auto trains = [](const Document& document) { return document.part == Part::kTrain; };
  if (std::any_of(documents.begin(), documents.end(), trains)) return;
  work.warn(fmt::format("{}: no document falls to training by its hash, so training takes what there is: {}",
                        work.source.name(), counted(static_cast<long long>(documents.size()), "document")));
  for (Document& document : documents) document.part = Part::kTrain;
}

void build_word_parts(CorpusWork& work);
void build_stream_parts(CorpusWork& work);

}  // namespace tril
