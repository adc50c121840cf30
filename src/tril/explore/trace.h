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
  std::vector<double> data;
};

struct Trace {
  std::vector<std::vector<std::string>> tokens;  // of each text: what stands in the model's window, T each
  std::vector<TracedValue> values;               // in the order in which they were computed
  std::vector<std::vector<Alternative>>
      next;  // of each text: the most likely next tokens, with probabilities
};

/// Traces the prediction of the token after each text. Several texts make one batch. A window model's window
/// is padded on the left; a decoder's texts must have equally many tokens. `top` is how many next tokens are
/// told. Warns of unknown words. Throws Refusal for no text, an empty one, or unequal lengths (with the
/// numbers).
Trace trace(const LoadedRun& run, std::span<const std::string> texts, int64_t top = 5);

}  // namespace tril
