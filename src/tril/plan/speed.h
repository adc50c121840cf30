// plan/speed: about how long training will take on this machine: from a moment of matrix products, or from
// steps of the run itself. What it leaves out: writing checkpoints, and what else the machine does meanwhile.
#pragma once
#include "tril/data/corpus.h"
#include "tril/train/settings.h"

namespace tril {

/// Seconds that parts of a run take.
struct Speed {
  double start = 0;       // to draw the weights, and the first step with its evaluation to come
  double step = 0;        // one update
  double evaluation = 0;  // for one target of an evaluation
};

/// Takes steps of the run for about `seconds`, at least two, and evaluates a little. The configuration is
/// resolved, with model.vocab_size set; nothing is written.
Speed measure_speed(const Config& config, const Corpus& corpus, double seconds);

/// Multiplications a second of a matrix product in f32 on all threads, from some milliseconds of it.
double product_rate();
/// A guess from product_rate() alone, before anything is trained.
Speed guess_speed(const Config& config);

/// One target for each window of a batch, one for each position of a block.
int64_t targets_a_step(const Config& config);

/// How many validation targets the run's evaluations take in all, and the whole run in seconds.
double evaluated_targets(const Config& config, const Corpus& corpus);
/// About how many steps a run of so many seconds makes, with an evaluation each eval_every; at least 1.
int64_t steps_in(const Config& config, const Corpus& corpus, const Speed& speed, double seconds);
double run_seconds(const Config& config, const Corpus& corpus, const Speed& speed);

}  // namespace tril
