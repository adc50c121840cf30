// trainer: one training step after another, and the state that another step depends on. What it leaves out:
// when to evaluate, log, save or stop (loop.h).
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tril/data/corpus.h"
#include "tril/model/model.h"
#include "tril/tensor/python_random.h"
#include "tril/train/batches.h"
#include "tril/train/checkpoint.h"
#include "tril/train/evaluation.h"
#include "tril/train/optimizer.h"
#include "tril/train/settings.h"

namespace tril {

class BaseModel;

/// What one step did. The loss is that of the batch before the update.
struct StepResult {
  int64_t step = 0;
  double loss = 0, gradient_norm = 0, learning_rate = 0;
  int64_t targets = 0;
};

/// Model, optimizer and batches of one configuration, drawn from its seed.
class Trainer {
 public:
  /// config is resolved, with model.vocab_size set. The corpus must outlive the trainer. Throws Refusal where
  /// the training part is too short. With `base` the weights are its own, and only adapters are drawn.
  Trainer(const Config& config, const Corpus& corpus, const BaseModel* base = nullptr);

  /// One update. Throws NonFinite, with the weights as they were before the step, where loss or gradient is
  /// not finite.
  StepResult step();
  /// nullopt where the part has no target.
  std::optional<Evaluation> evaluate(const Tokens& tokens, int64_t limit = 0, Progress* progress = nullptr);

  /// Another number of steps and shape of the rate from here on.
  void set_schedule(const TrainSettings& settings) { config_.train = settings; }

  int64_t steps_done() const { return steps_done_; }
  Model& model() { return *model_; }
  const Config& config() const { return config_; }
  PythonRandom& python() { return python_; }
  /// Bytes of activations that the largest step so far needed.
  size_t activation_bytes() const { return tape_.arena().held(); }

  /// Model and moments as views, and `generators` for the state; step, best_step and tokenizer are the
  /// caller's.
  void describe(Checkpoint& checkpoint) const;
  /// The generators' states in hex, by name: what state.json keeps of them.
  nlohmann::json generators() const;
  /// Takes a checkpoint's weights, moments and generators. Throws Refusal where they don't fit.
  void restore(const LoadedCheckpoint& checkpoint, const nlohmann::json& generators);

 private:
  Batch next_batch();
  CrossEntropy run_both_ways(const Batch& batch, Reduce reduce, double share);
  double gather_gradients(const Batch& batch, int64_t& counted);
  [[noreturn]] void stop_non_finite(int64_t step, double loss, double norm) const;

  Config config_;
  TorchGenerator torch_;
  PythonRandom python_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Optimizer> optimizer_;
  mutable Tape tape_;  // evaluation takes it too, between steps: its memory then is one step's, not two's
  int64_t steps_done_ = 0;
};

/// The tape that a configuration's engine and dtype ask for.
TapeOptions tape_options(const RunSettings& run, bool record);
/// That of the training steps.
TapeOptions training_tape(const Config& config);
DType dtype_of(const RunSettings& run);

}  // namespace tril
