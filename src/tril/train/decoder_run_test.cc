// Whole runs of decoders: dropout's draws, documents in one row and accumulated parts under resume and
// threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/base/threads.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

using Json = nlohmann::json;

class DecoderRun : public testing::Test {
 protected:
  TemporaryFolder folder;

  static Config config(const std::vector<std::string>& more) {
    std::vector<std::string> settings = {"model.family=decoder", "model.layers=2", "model.heads=2"};
    settings.insert(settings.end(), more.begin(), more.end());
    const auto drops = [](const std::string& setting) { return setting.starts_with("model.dropout="); };
    if (std::none_of(more.begin(), more.end(), drops)) settings.emplace_back("model.dropout=0.2");
    return small_run(settings);
  }
  Json train(const std::string& name, const std::vector<std::string>& more = {}) {
    RunFolder made = RunFolder::create(folder / name);
    return train_run(made, config(more));
  }
  std::string weights(const std::string& name) {
    const Json last = Json::parse(read_file(folder / name + "/last.json"));
    return read_file(folder / name + "/" + last["path"].get<std::string>() + "/model.safetensors");
  }
};

TEST_F(DecoderRun, DropoutIsTheSameForAnyThreadsAndAfterAResume) {
  const int before = threads();
  train("whole", {"run.threads=1"});
  train("threads", {"run.threads=3"});
  train("parts", {"run.threads=2", "train.steps=5"});
  RunFolder parts = RunFolder::open(folder / "parts");
  resume_run(parts, 12, {});
  set_threads(before);
  EXPECT_EQ(weights("threads"), weights("whole"));
  EXPECT_EQ(weights("parts"), weights("whole"));
  train("without", {"model.dropout=0"});
  EXPECT_NE(weights("without"), weights("whole"));
  train("seed", {"train.seed=12"});
  EXPECT_NE(weights("seed"), weights("whole"));
}

// Documents of unequal length: parts of 3 and 4 of 16 equal one large batch.
TEST_F(DecoderRun, AccumulatedDocumentsEqualOneLargeBatch) {
  const auto losses = [&](const std::string& parts) {
    const Json trace =
        train(parts, {"train.accumulate=" + parts, "train.batches=documents", "model.dropout=0",
                      "run.engine=reference", "run.dtype=f64", "train.steps=3", "data.documents=line",
                      "data.text=a bc. d\nef g h ij k.\nl. mn\no p q r s t\nu", "data.split=none",
                      "data.tokenizer=char", "data.stories=0", "data.vocabulary=0",
                      "train.eval_examples=20000"})["trace"];
    std::vector<double> out;
    for (const Json& line : trace) out.push_back(line["train_batch_loss"].get<double>());
    return out;
  };
  const std::vector<double> one = losses("1"), five = losses("5");
  ASSERT_EQ(one.size(), five.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], five[i], 1e-10);
}

}  // namespace
}  // namespace tril
