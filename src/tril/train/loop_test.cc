#include "tril/train/loop.h"

#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <sstream>

#include "tril/base/file.h"
#include "tril/base/threads.h"
#include "tril/train/run_folder_testing.h"
#include "tril/train/schedule.h"
#include "tril/train/train_testing.h"

namespace tril {

std::string metrics_without_times(const std::string& run) {
  return std::regex_replace(read_file(run + "/metrics.jsonl"), std::regex(",\"seconds\":[^}]*"), "");
}

namespace {

using Json = nlohmann::ordered_json;

Json train(const std::string& path, const Config& config, const LoopOptions& options = {}) {
  RunFolder folder = RunFolder::create(path);
  return train_run(folder, config, options);
}
Resumed resume(const std::string& path, std::optional<int64_t> steps = std::nullopt) {
  RunFolder folder = RunFolder::open(path);
  return resume_run(folder, steps, {});
}
std::string last_weights(const std::string& run) {
  const Json last = Json::parse(read_file(run + "/last.json"));
  const std::string folder = run + "/" + last.at("path").get<std::string>();
  return read_file(folder + "/model.safetensors") + read_file(folder + "/optimizer.safetensors");
}

class LoopTest : public testing::Test {
 protected:
  TemporaryFolder folder;
};

TEST_F(LoopTest, AResultHoldsWhatOtherProgramsRead) {
  const Json result = train(folder / "a", small_run());
  for (const char* field : {"run", "parameters", "documents", "targets", "vocab_size", "steps",
                            "selected_step", "tokens_seen", "validation_loss", "validation_perplexity",
                            "seconds", "tokens_per_second", "peak_bytes", "approximate_multiplies", "trace"})
    EXPECT_TRUE(result.contains(field)) << field;
  EXPECT_EQ(result["steps"], 12);
  EXPECT_EQ(result["tokens_seen"], 12 * 16);
  std::vector<int> steps;
  for (const Json& point : result["trace"]) steps.push_back(point["step"]);
  EXPECT_EQ(steps, (std::vector<int>{1, 5, 10, 12}));
  EXPECT_LT(result["trace"].back()["train_batch_loss"], result["trace"].front()["train_batch_loss"]);
  EXPECT_EQ(Json::parse(read_file(folder / "a/result.json")), result);
}

// Case 41.
TEST_F(LoopTest, AnyNumberOfThreadsGivesTheSameBits) {
  const int before = threads();
  for (int count : {1, 2, 3, 7})
    train(folder / std::to_string(count), small_run({"run.threads=" + std::to_string(count)}));
  set_threads(before);
  for (const char* other : {"2", "3", "7"}) {
    EXPECT_EQ(metrics_without_times(folder / "1"), metrics_without_times(folder / other));
    EXPECT_EQ(last_weights(folder / "1"), last_weights(folder / other));
  }
}

// Case 22: the batches go on where they were; losses and weights are those of the unbroken run, bit for bit.
TEST_F(LoopTest, AnInterruptedRunGoesOnToTheSameBits) {
  train(folder / "whole", small_run());
  for (int stop : {1, 4, 5, 7, 11}) {
    const std::string path = folder / ("stopped" + std::to_string(stop));
    LoopOptions options;
    options.after_step = [&](int64_t step) {
      if (step == stop) std::raise(SIGINT);
    };
    try {
      train(path, small_run(), options);
      FAIL() << "not interrupted at " << stop;
    } catch (const Interrupted& e) {
      EXPECT_EQ(e.exit_code(), kExitInterrupt);
      EXPECT_NE(std::string(e.what()).find("tril resume " + path), std::string::npos);
    }
    EXPECT_FALSE(resume(path).finished);
    EXPECT_EQ(metrics_without_times(path), metrics_without_times(folder / "whole")) << stop;
    EXPECT_EQ(last_weights(path), last_weights(folder / "whole")) << stop;
  }
}

// Muon keeps a momentum for its matrices and both of AdamW's moments for the rest.
TEST_F(LoopTest, MuonGivesTheSameBitsForAnyThreadsAndAfterAnInterrupt) {
  const int before = threads();
  for (int count : {1, 2, 3, 7})
    train(folder / std::to_string(count), small_run({"train.optimizer=muon", "train.weight_decay=0.01",
                                                     "run.threads=" + std::to_string(count)}));
  set_threads(before);
  for (const char* other : {"2", "3", "7"})
    EXPECT_EQ(last_weights(folder / "1"), last_weights(folder / other));
  train(folder / "parts", small_run({"train.optimizer=muon", "train.weight_decay=0.01", "train.steps=5"}));
  EXPECT_FALSE(resume(folder / "parts", 12).finished);
  EXPECT_EQ(last_weights(folder / "parts"), last_weights(folder / "1"));
  const SafetensorsFile moments(folder / "1/checkpoints/step-00000012/optimizer.safetensors");
  EXPECT_NE(moments.find("m.W_Q.weight"), nullptr);
  EXPECT_EQ(moments.find("v.W_Q.weight"), nullptr);
  EXPECT_NE(moments.find("v.token_embedding.weight"), nullptr);
}

TEST_F(LoopTest, AFinishedRunSaysSoAndCanBeExtended) {
  train(folder / "whole", small_run());
  train(folder / "parts", small_run({"train.steps=5"}));
  EXPECT_TRUE(resume(folder / "parts").finished);
  EXPECT_FALSE(resume(folder / "parts", 12).finished);
  EXPECT_EQ(last_weights(folder / "parts"), last_weights(folder / "whole"));
  EXPECT_TRUE(resume(folder / "parts").finished);  // the new number is kept
  EXPECT_THROW(resume(folder / "parts", 11), Refusal);
}

// Killed between the last checkpoint of the new number of steps and its result: the old result is not taken.
TEST_F(LoopTest, AnExtendedRunsResultIsItsOwn) {
  train(folder / "a", small_run({"train.steps=5"}));
  const std::string first = read_file(folder / "a/result.json");
  resume(folder / "a", 7);
  write_file_atomically(folder / "a/result.json", first);
  const Resumed again = resume(folder / "a");
  EXPECT_FALSE(again.finished);
  EXPECT_EQ(again.result["steps"], 7);
  write_file_atomically(folder / "a/result.json", "{");
  EXPECT_EQ(resume(folder / "a").result["steps"], 7);
}

// Ctrl-C after the last step: its checkpoint is there, the result is made by resume.
TEST_F(LoopTest, AnInterruptWhileTheResultIsMadeLosesNothing) {
  LoopOptions options;
  options.samples = [](Trainer&, const Tokenizer&) -> std::vector<std::string> {
    std::raise(SIGINT);
    interrupt::check();
    return {};
  };
  try {
    train(folder / "a", small_run({"train.steps=2", "train.samples=1"}), options);
    FAIL();
  } catch (const Interrupted& interrupted) {
    interrupt::clear();
    EXPECT_EQ(interrupted.what(),
              "interrupted after step 2; all work is saved. Go on with: tril resume " + (folder / "a"));
  }
  EXPECT_FALSE(file_exists(folder / "a/result.json"));
  EXPECT_EQ(resume(folder / "a").result["steps"], 2);
}

// Case 23: warm-up 5, cosine to 20, stopped after step 7: the rate of every step is the unbroken run's, which
// is the schedule's. A new number of steps is told, with what it changes.
TEST_F(LoopTest, TheRateGoesOnAfterAnInterrupt) {
  const std::vector<std::string> settings = {"train.steps=20", "train.warmup=5", "train.schedule=cosine"};
  LoopOptions options;
  options.after_step = [](int64_t step) {
    if (step == 7) std::raise(SIGINT);
  };
  EXPECT_THROW(train(folder / "a", small_run(settings), options), Interrupted);
  EXPECT_FALSE(resume(folder / "a").finished);
  std::istringstream metrics(read_file(folder / "a/metrics.jsonl"));
  int64_t step = 0;
  for (std::string line; std::getline(metrics, line);) {
    const Json point = Json::parse(line);
    EXPECT_EQ(point["step"].get<int64_t>(), ++step);
    EXPECT_EQ(point["lr"].get<double>(), learning_rate_at(small_run(settings).train, step)) << step;
  }
  EXPECT_EQ(step, 20);
  testing::internal::CaptureStderr();
  resume(folder / "a", 30);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("30 steps in place of 20: the cosine schedule is that of the new number"),
            std::string::npos)
      << told;
}

// Case 21: the first loss stands beside that of an even guess, and one over 10% away from what fresh weights
// give is flagged.
TEST_F(LoopTest, TheFirstLossIsJudged) {
  const auto told = [&](const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> settings = {
        "model.family=decoder",
        "train.steps=1",
        "data.tokenizer=char",
        "data.split=tail",
        "data.stories=0",
        "data.vocabulary=0",
        "data.documents=whole",
        "data.text=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,!"};
    settings.insert(settings.end(), more.begin(), more.end());
    testing::internal::CaptureStderr();
    train(folder / name, small_run(settings));
    return testing::internal::GetCapturedStderr();
  };
  const std::string sane = told("sane", {"model.init=gpt2"});
  EXPECT_NE(sane.find("; an even guess among 65 tokens gives ln 65 = 4.1744"), std::string::npos) << sane;
  EXPECT_EQ(sane.find("warning: the first loss"), std::string::npos) << sane;
  const std::string wild = told("wild", {"model.tied=true", "model.norm=none", "model.init=torch"});
  EXPECT_NE(wild.find("warning: the first loss "), std::string::npos) << wild;
  EXPECT_NE(wild.find(" is over 10% away from 4.1744: the first weights favour some tokens"),
            std::string::npos)
      << wild;
}

// Where the last evaluation was over the whole part, it is the run's own loss.
TEST_F(LoopTest, TheLossOfTheWholePartDoesNotDependOnHowItWasCome) {
  const Json all = train(folder / "all", small_run({"train.eval_examples=0"}));
  const Json more = train(folder / "more", small_run({"train.eval_examples=1000000"}));
  const Json some = train(folder / "some", small_run());
  EXPECT_EQ(all["validation_loss"], more["validation_loss"]);
  ASSERT_EQ(all["selected_step"], 12);
  ASSERT_EQ(some["selected_step"], 12);
  EXPECT_EQ(all["validation_loss"], all["trace"].back()["validation_loss"]);
  EXPECT_EQ(all["validation_loss"], some["validation_loss"]);
  EXPECT_NE(some["validation_loss"], some["trace"].back()["validation_loss"]);
}

TEST_F(LoopTest, AMovedRunTellsItsNewPlace) {
  train(folder / "a", small_run({"train.steps=2"}));
  std::filesystem::rename(folder / "a", folder / "b");
  const Resumed moved = resume(folder / "b");
  EXPECT_TRUE(moved.finished);
  EXPECT_EQ(moved.result["run"], folder / "b");
}

TEST_F(LoopTest, AChangedSourceIsRefused) {
  const std::string text = folder / "text.txt";
  std::string story;
  for (int i = 0; i < 30; ++i)
    story += "the cat " + std::string(i % 2 ? "sat" : "ran") + " on mat " + std::to_string(i) + "\n\n";
  write_file_atomically(text, story);
  const Config config = small_run({"data.path=" + text, "train.steps=4", "data.stories=0"});
  train(folder / "run", config);
  write_file_atomically(text, story + "and more\n");
  EXPECT_THROW(resume(folder / "run", 6), Refusal);
}

TEST_F(LoopTest, ANonFiniteLossStopsWithTheLastGoodCheckpoint) {
  const std::string path = folder / "bad";
  train(path, small_run({"train.steps=5"}));
  const std::string weights = last_weights(path);
  // From here on one update makes weights of 1e9, whose products overflow.
  write_file_atomically(path + "/config.toml",
                        std::regex_replace(read_file(path + "/config.toml"),
                                           std::regex("\nlearning_rate = [^\n]*"), "\nlearning_rate = 1e9"));
  for (const int64_t step : RunFolder::view(path).steps())
    rewrite_state(path + "/checkpoints/" + checkpoint_name(step),
                  [](auto& state) { state["settings"]["train.learning_rate"] = "1000000000.0"; });
  try {
    resume(path, 9);
    FAIL();
  } catch (const NonFinite& e) {
    EXPECT_EQ(e.exit_code(), kExitNonFinite);
    EXPECT_NE(std::string(e.what()).find("step 7"), std::string::npos) << e.what();
  }
  EXPECT_EQ(RunFolder::view(path).last(), 5);
  EXPECT_EQ(last_weights(path), weights);
}

TEST_F(LoopTest, BrokenWeightsAreNotSavedAsTheBest) {
  try {
    train(folder / "broken", small_run({"train.steps=1", "train.learning_rate=1e9", "train.clip=0"}));
    FAIL();
  } catch (const NonFinite& e) {
    EXPECT_NE(std::string(e.what()).find("the validation loss is"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(RunFolder::view(folder / "broken").last().has_value());
}

TEST_F(LoopTest, AWindowModelNeedsATokenizerWithPadding) {
  EXPECT_THROW(train(folder / "chars", small_run({"data.tokenizer=char", "data.vocabulary=0"})), Refusal);
  EXPECT_FALSE(folder_exists(folder / "chars"));
}

TEST_F(LoopTest, ARefusedResumeLeavesTheSettings) {
  train(folder / "a", small_run({"train.steps=5"}));
  const std::string before = read_file(folder / "a/config.toml");
  EXPECT_THROW(resume(folder / "a", 3), Refusal);
  write_file_atomically(folder / "a/data.json", "{");
  EXPECT_THROW(resume(folder / "a", 9), Refusal);
  EXPECT_EQ(read_file(folder / "a/config.toml"), before);
}

TEST_F(LoopTest, ARefusedRunLeavesNothing) {
  EXPECT_THROW(train(folder / "none", small_run({"data.path=" + (folder / "missing.txt")})), Refusal);
  EXPECT_FALSE(folder_exists(folder / "none"));
}

// Case 18.
TEST_F(LoopTest, AccumulatedPartsEqualOneLargeBatch) {
  const std::vector<std::string> exact = {"run.engine=reference", "run.dtype=f64", "train.steps=3"};
  const auto with = [&](const std::string& parts) {
    std::vector<std::string> settings = exact;
    settings.push_back("train.accumulate=" + parts);
    return train(folder / parts, small_run(settings));
  };
  const Json one = with("1"), two = with("2"), five = with("5");  // 16 in fives: parts of 3 and 4
  for (const Json& other : {two, five})
    for (size_t i = 0; i < one["trace"].size(); ++i)
      EXPECT_NEAR(one["trace"][i]["train_batch_loss"].get<double>(),
                  other["trace"][i]["train_batch_loss"].get<double>(), 1e-10);
}

}  // namespace
}  // namespace tril
