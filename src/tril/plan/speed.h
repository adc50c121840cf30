// plan/speed: about how long training will take on this machine: from a moment of matrix products, or from
// steps of the run itself, its evaluations and its files. What it leaves out: what else the machine does
// meanwhile.
#pragma once
#include <functional>
#include <string>

#include "tril/data/corpus.h"
#include "tril/plan/saving.h"
#include "tril/train/settings.h"
#include "tril/train/trainer.h"

namespace tril {

/// Seconds that parts of a run take.
struct Speed {
  double start = 0;       // to make the weights, and the first step
  double step = 0;        // one update after the first
  double evaluation = 0;  // for one target of an evaluation
  double sample = 0;      // one text of train.samples
  SavingSpeed saving = {};
};

/// What is measured besides steps and evaluations.
struct SpeedProbe {
  std::shared_ptr<const BaseModel> base;  // of train.from
  std::string folder;                     // where the run would lie; "": no file is timed
  std::function<void(Trainer&)> sample;   // makes train.samples texts, here one; none: not timed
};

/// Takes steps of the run for about `seconds`, at least two and no more than the run has, and evaluates for
/// half as long. The configuration is resolved, with model.vocab_size set; nothing that is written stays.
Speed measure_speed(const Config& config, const Corpus& corpus, double seconds, const SpeedProbe& probe = {});

/// Multiplications a second of a matrix product in f32 on all threads, from some milliseconds of it.
double product_rate();
/// A guess from product_rate() alone, before anything is trained.
Speed guess_speed(const Config& config);

/// One target for each window of a batch, one for each position of a block.
int64_t targets_a_step(const Config& config);

/// How many checkpoints the run writes.
int64_t checkpoints_of(const TrainSettings& settings);
/// How many validation targets the run's evaluations take in all, and what the run takes from the moment when
/// its text is read.
double evaluated_targets(const Config& config, const Corpus& corpus);
struct RunSeconds {
  double start = 0, train = 0, eval = 0, files = 0, samples = 0;
  double total() const { return start + train + eval + files + samples; }
};
RunSeconds run_seconds(const Config& config, const Corpus& corpus, const Speed& speed);
/// About how many steps a run of so many seconds makes, with an evaluation each eval_every; at least 1.
int64_t steps_in(const Config& config, const Corpus& corpus, const Speed& speed, double seconds);

}  // namespace tril
