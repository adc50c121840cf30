#include "tril/generate/samples.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/train/config.h"

namespace tril {
namespace {

std::vector<std::string> samples_of(const std::string& preset, const std::vector<std::string>& settings) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  for (const std::string& setting : settings) builder.set(setting);
  Config config = builder.finish();
  CorpusOptions options;
  options.announce = false;
  options.document_bounds = config.train.batches == "documents";
  const Corpus corpus = build_corpus(config.data, options);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  Trainer trainer(config, corpus);
  while (trainer.steps_done() < config.train.steps) trainer.step();
  return training_samples(trainer, *corpus.tokenizer);
}

// tests/parity/microgpt_scalar.py drew these after it had trained on the same list.
TEST(Samples, MicrogptsNamesAreTheScalarProgramsOnVillages) {
  const std::string folder = std::string(TRIL_SOURCE_DIR) + "/tests/parity/";
  const auto stored = nlohmann::json::parse(read_file(folder + "microgpt.json"))["villages"];
  EXPECT_EQ(
      samples_of("microgpt", {"data.path=" + folder + "villages.txt", "train.seed=" + stored["seed"].dump(),
                              "train.steps=" + stored["steps"].dump()}),
      stored["samples"].get<std::vector<std::string>>());
}

TEST(Samples, OtherModelsDrawFromTheRunsSeed) {
  const std::vector<std::string> settings = {"data.stories=20", "data.vocabulary=100", "train.steps=3",
                                             "train.batch=4", "train.samples=2"};
  const std::vector<std::string> first = samples_of("one-head-smoke", settings);
  ASSERT_EQ(first.size(), 2u);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(samples_of("one-head-smoke", settings), first);
}

}  // namespace
}  // namespace tril
