// Whole decoder trainings against other programs': TinyGPT's 500 steps in PyTorch (tiny_gpt.json), and
// microgpt's by the scalar Python program on two lists of names (microgpt.json).
#include <gtest/gtest.h>

#include <filesystem>

#include "../program.h"
#include "numbers.h"
#include "tril/base/threads.h"
#include "tril/data/corpus.h"
#include "tril/generate/samples.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril::parity {
namespace {

struct Trained {
  std::vector<double> losses;  // of every step
  std::vector<std::string> samples;
};

Trained train(const std::string& preset, const std::vector<std::string>& settings) {
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
  Trained out;
  for (int64_t step = 0; step < config.train.steps; ++step) out.losses.push_back(trainer.step().loss);
  out.samples = training_samples(trainer, *corpus.tokenizer);
  set_threads(before);
  return out;
}

std::vector<double> stored_losses(const nlohmann::json& stored) {
  return stored["losses"].get<std::vector<double>>();
}

TEST(ParityDecoderRun, TinyGptsLossesFollowPyTorchs) {
  const auto stored = stored_losses(load("tiny_gpt"));
  for (const char* engine : {"fast", "reference"}) {
    SCOPED_TRACE(engine);
    const auto losses = train("tiny-gpt-abc", {std::string("run.engine=") + engine}).losses;
    ASSERT_EQ(losses.size(), stored.size());
    EXPECT_LE(largest_difference(losses, stored), 1e-5);
    RecordProperty(std::string("largest_difference_") + engine,
                   scientific(largest_difference(losses, stored)));
  }
}

TEST(ParityDecoderRun, MicrogptsLossesAreTheScalarProgramsOnVillages) {
  const auto stored = load("microgpt")["villages"];
  ASSERT_EQ(sha256_hex(read_file(kFolder + "villages.txt")), text(stored["sha256"]));
  const std::vector<std::string> settings{"data.path=" + kFolder + "villages.txt",
                                          "train.seed=" + stored["seed"].dump(),
                                          "train.steps=" + stored["steps"].dump()};
  const auto [losses, samples] = train("microgpt", settings);
  EXPECT_EQ(samples, stored["samples"].get<std::vector<std::string>>());
  EXPECT_LE(largest_difference(losses, stored_losses(stored)), 1e-12);
  RecordProperty("largest_difference_f64", scientific(largest_difference(losses, stored_losses(stored))));

  auto fast = settings;
  fast.insert(fast.end(), {"run.engine=fast", "run.dtype=f32"});
  const auto single = train("microgpt", fast).losses;
  EXPECT_LE(largest_difference(single, stored_losses(stored)), 1e-5);
  RecordProperty("largest_difference_f32", scientific(largest_difference(single, stored_losses(stored))));
}

TEST(ParityDecoderRun, MicrogptsLossesAreTheScalarProgramsOnNames) {
  const std::string names = shared_folder() + "/data/names.txt";
  if (!std::filesystem::exists(names)) GTEST_SKIP() << "no shared data";
  const auto stored = load("microgpt")["names"];
  ASSERT_EQ(sha256_hex(read_file(names)), text(stored["sha256"]));
  const auto [losses, samples] = train("microgpt", {"data.path=" + names});
  EXPECT_EQ(samples, stored["samples"].get<std::vector<std::string>>());
  EXPECT_LE(largest_difference(losses, stored_losses(stored)), 1e-12);
  RecordProperty("largest_difference_f64", scientific(largest_difference(losses, stored_losses(stored))));
}

}  // namespace
}  // namespace tril::parity
