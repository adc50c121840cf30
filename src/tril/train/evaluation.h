// evaluation: the mean loss over a part of the corpus, every target counted exactly once. Window models: the
// first `limit` targets. Decoders: consecutive blocks of `context` targets that cover the stream; the first
// that hold `limit` targets. What it leaves out: choosing what to do with the figure.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

#include "tril/data/tokens.h"
#include "tril/model/model.h"

namespace tril {

class Progress;

struct Evaluation {
  double nats = 0;  // the sum over targets
  int64_t targets = 0;
  double loss() const { return nats / static_cast<double>(targets); }
  double perplexity() const { return std::exp(loss()); }
  /// Over the bytes of the text that gave the targets.
  double bits_per_byte(int64_t bytes) const { return nats / std::log(2.0) / static_cast<double>(bytes); }
};

/// Batch number n of an evaluation is taken by rank n mod `of`: each counts its own targets, and the sum over
/// ranks is that of one.
struct EvaluationShare {
  int64_t which = 0, of = 1;
  bool takes(int64_t batch) const { return batch % of == which; }
};

/// `limit` 0: all. nullopt where the part has no target: an empty part has no loss, neither 0 nor NaN.
/// The tape must not record; it is reset. The same bits for any number of threads. `progress` is told the
/// targets so far.
std::optional<Evaluation> evaluate(const Model& model, Tape& tape, const Tokens& tokens, int64_t limit = 0,
                                   Progress* progress = nullptr, const EvaluationShare& share = {});

/// How many windows, or blocks of `positions`, evaluate() takes at once.
int64_t evaluation_batch(const ModelConfig& config, int64_t positions);

}  // namespace tril
