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
#include "tril/train/gradient_sum.h"
#include "tril/train/optimizer.h"
#include "tril/train/parallel.h"
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
  /// config is resolved, with model.vocab_size set. The corpus must outlive the trainer. With `base` the
  /// weights are its own, and only adapters are drawn. With `parallel` each step and evaluation is one of all
  /// ranks, which take their state from rank 0's trainer at the first. Throws Refusal where the training part
  /// is too short.
  Trainer(const Config& config, const Corpus& corpus, const BaseModel* base = nullptr,
          Parallel* parallel = nullptr);

  /// One update. Throws NonFinite, with the weights as they were before the step, where loss or gradient is
  /// not finite.
  StepResult step();
  /// nullopt where the part has no target.
  std::optional<Evaluation> evaluate(const Tokens& tokens, int64_t limit = 0, Progress* progress = nullptr);

  /// Another number of steps and shape of the rate from here on.
  void set_schedule(const TrainSettings& settings);

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
  /// What summing over ranks took so far; nothing where there is one.
  SumTimes sum_times() const { return sum_ ? sum_->times() : SumTimes(); }
  /// Takes a checkpoint's weights, moments and generators. Throws Refusal where they don't fit.
  void restore(const LoadedCheckpoint& checkpoint, const nlohmann::json& generators);

 private:
  Batch next_batch();
  CrossEntropy run_both_ways(const Batch& batch, Reduce reduce, double share);
  double gather_gradients(const Batch& batch, int64_t& counted);
  double gather_parts(const Batch& batch, int64_t parts, double share);
  double sum_over_ranks(double nats);
  // Dropout's draws follow from seed, step and part, so a resumed run drops what the unbroken one would have.
  uint64_t draws_seed() const { return static_cast<uint64_t>(config_.train.seed); }
  uint64_t draws_step() const { return static_cast<uint64_t>(steps_done_ * config_.train.accumulate); }
  void begin_together(const Order& order);
  void share_state();
  void set_generators(const nlohmann::json& generators, const std::string& where);
  [[noreturn]] void stop_non_finite(int64_t step, double loss, double norm) const;

  Config config_;
  TorchGenerator torch_;
  PythonRandom python_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Optimizer> optimizer_;
  mutable Tape tape_;  // evaluation takes it too, between steps: its memory then is one step's, not two's
  int64_t steps_done_ = 0;
  Parallel* parallel_;
  std::optional<GradientSum> sum_;  // of all ranks
  bool shared_ = false;             // all ranks have rank 0's state
};

/// The tape that a configuration's engine and dtype ask for.
TapeOptions tape_options(const RunSettings& run, bool record);
/// That of the training steps.
TapeOptions training_tape(const Config& config);
DType dtype_of(const RunSettings& run);

}  // namespace tril
