// trace: one prediction opened up. The same forward pass that trains and generates runs on a tape that keeps
// every named value: X, Q, K, V, scores, masked_scores, weights, messages, updates, contextual, hidden,
// logits; in a stack blocks.0.weights and so on. What it leaves out: showing them (cli/trace.cc), changing
// them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tril/generate/generate.h"
#include "tril/tensor/shape.h"
#include "tril/train/loaded_run.h"

namespace tril {

struct TracedValue {
  std::string name;
  Shape shape;  // of one text without the batch's dimension: weights [heads, T, T], X [T, d_model]
  std::vector<double> data;  // row-major; empty where the numbers were not asked for
};

struct TracedText {
  std::string text;
  std::vector<int32_t> ids;  // what the model reads, T of them
  std::vector<std::string> tokens;
  int64_t padding = 0;  // how many of them stand before the text: a window's padding
  int64_t filling = 0;  // and behind it, where another text of the batch is longer: rows that mean nothing
  std::vector<std::string> unknown;  // words that the model reads as <UNK>
  std::vector<Alternative> next;     // the likeliest next tokens, with their probabilities
};

struct Trace {
  std::vector<TracedText> texts;
  std::vector<TracedValue> values;  // in the order in which they were computed
};

struct TraceOptions {
  /// Which values: "blocks.0.weights", or "weights" for those of every block; empty means all.
  std::vector<std::string> names;
  int64_t top = 5;      // how many next tokens
  bool numbers = true;  // false: names and shapes alone
};

/// Traces the prediction of the token after each text. Several texts make one batch, and every shape then
/// begins with their number. A window model's window is padded on the left. A decoder's shorter texts are
/// filled up on the right, where a causal model does not look; under model.mask = none they must have equally
/// many tokens. Only the last `context` tokens are seen. Warns of unknown words and of a text that is cut.
/// Throws Refusal for no text, an empty one where the model has nothing to begin from, unequal lengths that
/// can't be filled up (with the numbers), and a name that there is not (with the nearest).
Trace trace(const LoadedRun& run, std::span<const std::string> texts, const TraceOptions& options = {});

}  // namespace tril
