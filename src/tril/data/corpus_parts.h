// The two ways from documents to ids, for corpus.cc alone: words in windows (word_corpus.cc) and streams of
// characters or BPE pieces (stream_corpus.cc).
#pragma once
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

void build_word_parts(CorpusWork& work);
void build_stream_parts(CorpusWork& work);

}  // namespace tril
