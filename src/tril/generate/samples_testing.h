// For tests of trained presets: a preset with settings over it, trained to its last step, with every step's
// loss and the samples that it then draws.
#pragma once
#include <string>
#include <vector>

#include "tril/base/threads.h"
#include "tril/generate/samples.h"
#include "tril/train/config.h"

namespace tril {

struct TrainedPreset {
  std::vector<double> losses;
  std::vector<std::string> samples;
};

inline TrainedPreset train_preset(const std::string& preset, const std::vector<std::string>& settings) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  for (const std::string& setting : settings) builder.set(setting);
  Config config = builder.finish();
  CorpusOptions options;
  options.announce = false;
  options.document_bounds = config.train.batches == "documents";
  const Corpus corpus = build_corpus(config.data, options);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const int before = threads();
  set_threads(1);  // the same bits as with more, and no waiting where the machine is busy
  Trainer trainer(config, corpus);
  TrainedPreset out;
  while (trainer.steps_done() < config.train.steps) out.losses.push_back(trainer.step().loss);
  out.samples = training_samples(trainer, *corpus.tokenizer);
  set_threads(before);
  return out;
}

}  // namespace tril
