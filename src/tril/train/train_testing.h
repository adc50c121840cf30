// For tests of training: small configurations that train in a moment, and a folder that goes when the test
// does.
#pragma once
#include <string>

#include "tril/base/folder_testing.h"
#include "tril/train/config.h"
#include "tril/train/loop.h"

namespace tril {

/// A window model of a few thousand weights on 40 tales, and any settings over it.
inline Config small_run(const std::vector<std::string>& settings = {}) {
  ConfigBuilder builder;
  builder.add_toml(
      "preset = \"one-head-smoke\"\n"
      "[data]\nstories = 40\nvocabulary = 200\n"
      "[model]\ncontext = 6\nd_model = 8\nhidden = 12\n"
      "[train]\nsteps = 12\nbatch = 16\neval_every = 5\neval_examples = 200\nlog_every = 1\n",
      "small run");
  for (const std::string& setting : settings) builder.set(setting);
  return builder.finish();
}

/// Its text, without a word about it; model.vocab_size is set to what the text gives.
inline Corpus corpus_for(Config& config) {
  CorpusOptions quiet;
  quiet.announce = false;
  Corpus corpus = build_corpus(config.data, quiet);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  return corpus;
}

/// metrics.jsonl without the times.
std::string metrics_without_times(const std::string& run);

}  // namespace tril
