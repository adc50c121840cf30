// For tests of training: small configurations that train in a moment, and a folder that goes when the test
// does.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

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

/// Eight blocks 64 wide, over which memory is counted; a setting given takes the place of one of its own.
inline Config decoder(const std::vector<std::string>& settings = {}) {
  std::vector<std::string> all = settings;
  for (const std::string own : {"model.family=decoder", "model.layers=8", "model.d_model=64",
                                "model.hidden=256", "model.context=32", "train.batch=64"}) {
    const std::string key = own.substr(0, own.find('=') + 1);
    if (std::none_of(settings.begin(), settings.end(),
                     [&](const std::string& given) { return given.rfind(key, 0) == 0; }))
      all.push_back(own);
  }
  Config config = small_run(all);
  config.model.vocab_size = 200;
  return config;
}

/// A small run's text, without a word about it; model.vocab_size is set to what the text gives.
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
