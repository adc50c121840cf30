// score: how well a model foresees a given text: each token's log-probability given those before it. The
// first token is no target where the model begins without BOS. A decoder reads blocks of its context one
// behind the other, a window model the window before each token; every target is counted exactly once.
#pragma once
#include <string>
#include <vector>

#include "tril/train/loaded_run.h"

namespace tril {

struct ScoredToken {
  int32_t id;
  std::string text;
  double logprob;  // natural logarithm
};
struct Score {
  std::vector<ScoredToken> tokens;
  double nats = 0;    // the sum of −logprob
  int64_t bytes = 0;  // of the text as the tokenizer sees it
  bool lossy = false;
  int64_t context = 0;
  std::vector<std::string> unknown;  // words that were read as <UNK>
  double loss() const { return nats / static_cast<double>(tokens.size()); }
  double bits_per_byte() const;
};

/// Warns of words the model never met. Throws Refusal where the text gives no target.
Score score(const LoadedRun& run, std::string_view text);

}  // namespace tril
