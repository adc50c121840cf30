// Whole runs of decoders: dropout's draws, documents in one row and accumulated parts under resume and
// threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tril/base/file.h"
#include "tril/base/threads.h"
#include "tril/formats/safetensors.h"
#include "tril/tensor/python_random.h"
#include "tril/train/loaded_run.h"
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

// Case 18: documents of unequal length: parts of 3 and 4 of 16 equal one large batch.
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

// Case 17: letters without any rule can only be learnt by heart. The best by the validation loss stays the
// run's model, and the step where it turned is told.
TEST_F(DecoderRun, WhereTheValidationLossTurnedIsTold) {
  std::string letters;
  PythonRandom random(5);
  for (int i = 0; i < 400; ++i) letters += static_cast<char>('a' + static_cast<int>(26 * random.random()));
  testing::internal::CaptureStderr();
  const Json result =
      train("turned",
            {"data.text=" + letters, "data.split=tail", "data.tokenizer=char", "data.documents=whole",
             "data.stories=0", "data.vocabulary=0", "model.dropout=0", "model.d_model=32", "model.hidden=64",
             "train.batch=16", "train.steps=150", "train.eval_every=10", "train.learning_rate=0.01"});
  const std::string told = testing::internal::GetCapturedStderr();
  const auto best = result["selected_step"].get<int64_t>();
  ASSERT_LT(best, 150);
  double lowest = 1e9, last = 0;
  for (const Json& line : result["trace"]) {
    last = line["validation_loss"].get<double>();
    lowest = std::min(lowest, last);
  }
  EXPECT_GT(last, lowest + 1);
  EXPECT_LT(result["trace"].back()["train_batch_loss"].get<double>(), 2);
  EXPECT_EQ(result["validation_loss"].get<double>(), lowest);
  EXPECT_NE(
      told.find(fmt::format("validation loss was lowest at step {} ({:.4f}) and is {:.4f} now: the run's "
                            "model is that of step {}",
                            best, lowest, last, best)),
      std::string::npos)
      << told;
  EXPECT_EQ(load_run(folder / "turned").step, best);
}

// Case 19: a tied head is the token table itself: one tensor and one pair of moments in the files, one
// update, and what is loaded is tied again.
TEST_F(DecoderRun, ATiedHeadIsOneTensorEverywhere) {
  const std::vector<std::string> settings = {"model.tied=true", "model.init=gpt2", "model.dropout=0",
                                             "train.steps=2", "train.weight_decay=0.1"};
  train("tied", settings);
  const std::string at = folder / "tied/checkpoints/step-00000002/";
  const SafetensorsFile model(at + "model.safetensors"), moments(at + "optimizer.safetensors");
  const auto named = [](const SafetensorsFile& file, const std::string& part) {
    return std::count_if(file.tensors().begin(), file.tensors().end(),
                         [&](const StoredTensor& t) { return t.name.find(part) != std::string::npos; });
  };
  EXPECT_EQ(named(model, "head"), 0);
  EXPECT_EQ(named(model, "token_embedding"), 1);
  EXPECT_EQ(named(moments, "head"), 0);
  EXPECT_EQ(named(moments, "token_embedding"), 2);
  const LoadedRun run = load_run(folder / "tied");
  const Parameters& p = run.model->parameters();
  EXPECT_EQ(p.find("head.weight"), -1);
  const int64_t table = run.config.model.vocab_size * run.config.model.d_model;
  std::vector<std::string> free_settings = settings;
  free_settings[0] = "model.tied=false";
  const Json untied = train("untied", free_settings);
  EXPECT_EQ(untied["parameters"].get<int64_t>(), p.count() + table);
  // A change of a token's row changes its logit: the head still is that row.
  Tape tape(tape_options(run.config.run, false));
  int32_t ids[] = {5, 6};
  const auto logits = [&] {
    tape.reset();
    const Var y = run.model->forward(tape, {{1, 2}, DType::i32, ids}, Rows::last);
    return std::vector<float>(y.v<float>(), y.v<float>() + y.count());
  };
  const std::vector<float> before = logits();
  float* row = p.value(p.find("token_embedding.weight")).as<float>() + 9 * run.config.model.d_model;
  std::fill(row, row + run.config.model.d_model, 0.0f);
  const std::vector<float> after = logits();
  EXPECT_NE(before[9], 0);
  EXPECT_EQ(after[9], 0);
  for (size_t i = 0; i < before.size(); ++i)
    if (i != 9) {
      ASSERT_EQ(before[i], after[i]);
    }
}

}  // namespace
}  // namespace tril
