// A trainer as small as can be, for the tests of run folders and checkpoints: it carries all that a real one
// does, and its run is short enough to be broken off at every single operation on files.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tril/base/error_testing.h"
#include "tril/base/fault.h"
#include "tril/base/folder_testing.h"
#include "tril/base/hash.h"
#include "tril/train/run_folder.h"

namespace tril {

class RunFolderTest : public testing::Test {
 protected:
  void TearDown() override { fault::plan(""); }
  std::string at(const std::string& name) const { return folder_.at(name); }

  const TestFolder folder_{testing::UnitTest::GetInstance()->current_test_info()->name()};
  const std::string& root_ = folder_.path();
};

inline void put(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline void flip(const std::string& path, size_t byte) {
  std::string bytes = read_file(path);
  bytes.at(byte) = static_cast<char>(bytes[byte] ^ 4);
  put(path, bytes);
}

/// Changes a checkpoint's state.json as another version of the program might have written it: its digest is
/// right.
inline void rewrite_state(const std::string& checkpoint, const std::function<void(nlohmann::json&)>& edit) {
  const std::string path = checkpoint + "/state.json";
  nlohmann::json state = nlohmann::json::parse(read_file(path));
  state.erase("digest");
  edit(state);
  const std::string head = "{\"digest\":\"";
  std::string text = head + std::string(64, '0') + "\"," + state.dump().substr(1) + "\n";
  put(path, text.replace(head.size(), 64, sha256_hex(text)));
}

/// A trainer as small as can be that still carries all that a real one does: weights, moments, a generator, a
/// loss that wanders (so that "best" moves), metrics, checkpoints.
struct SmallTrainer {
  std::array<float, 6> weights{}, moments{};
  uint64_t generator = 7;
  double best_loss = 1e9;
  int64_t step = 0, best_step = 0;

  double update() {
    ++step;
    generator = generator * 6364136223846793005u + 1442695040888963407u;
    const auto gradient = static_cast<float>(generator >> 40) * 0x1p-24f - 0.5f;
    for (size_t i = 0; i < weights.size(); ++i) {
      moments[i] = 0.9f * moments[i] + gradient;
      weights[i] -= 0.1f * moments[i] * static_cast<float>(i + 1);
    }
    return static_cast<double>(gradient) * gradient;
  }

  Checkpoint checkpoint() {
    const std::string state = nlohmann::json({{"generator", generator}, {"best_loss", best_loss}}).dump();
    return {step,
            best_step,
            std::string(64, 'a'),
            {stored("weights", Tensor{{2, 3}, DType::f32, weights.data()})},
            {stored("moments", Tensor{{6}, DType::f32, moments.data()})},
            state};
  }

  void restore(const LoadedCheckpoint& from) {
    step = from.step();
    best_step = from.best_step();
    copy_stored(*from.model().find("weights"), Tensor{{2, 3}, DType::f32, weights.data()}, "model");
    copy_stored(*from.optimizer().find("moments"), Tensor{{6}, DType::f32, moments.data()}, "optimizer");
    const nlohmann::json state = nlohmann::json::parse(from.state());
    generator = state.at("generator");
    best_loss = state.at("best_loss");
  }
};

inline constexpr int64_t kSteps = 9, kEvery = 2;

/// Trains a run to its end, anew or from where it stopped.
inline void train(const std::string& path) {
  const bool begun = file_exists(path + "/config.toml");
  RunFolder run = begun ? RunFolder::open(path) : RunFolder::create(path);
  if (!begun) run.write("config.toml", "[train]\n");
  if (!run.has("tokenizer.json")) run.write("tokenizer.json", "{}");
  SmallTrainer trainer;
  if (begun) {
    if (const std::optional<LoadedCheckpoint> from = run.restore()) trainer.restore(*from);
  }
  while (trainer.step < kSteps) {
    const double loss = trainer.update();
    const bool evaluated = trainer.step == 1 || trainer.step % kEvery == 0 || trainer.step == kSteps;
    if (evaluated && loss < trainer.best_loss) {
      trainer.best_loss = loss;
      trainer.best_step = trainer.step;
    }
    run.append_metrics(nlohmann::json({{"step", trainer.step}, {"train_batch_loss", loss}}).dump());
    if (evaluated) run.save(trainer.checkpoint());
  }
  run.write("result.json", nlohmann::json({{"selected_step", trainer.best_step}}).dump());
}

/// Every file of a run with its bytes, but for the lock.
inline std::map<std::string, std::string> content(const std::string& path) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().filename() != "lock") {
      files[std::filesystem::relative(entry.path(), path).string()] = read_file(entry.path().string());
    }
  }
  return files;
}

}  // namespace tril
