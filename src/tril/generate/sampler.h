// sampler: from logits to one token. The rules are applied in this order; each leaves at least one token.
//   repetition penalty R  logits of tokens already there: x / R where x > 0, x · R where x < 0 (Keskar et al.
//   2019) temperature T         x / T;  0 is greedy: the largest logit, the lowest id among equals top-k the
//   k largest (0: off; above the vocabulary: all; equals at the border: the lowest ids) top-p the fewest,
//   largest first, whose probability reaches p (Holtzman et al. 2020) min-p                 those with at
//   least p times the largest probability
// The choice takes one uniform number u: the first id, in id order, where the running sum of probabilities
// exceeds u; all in double. What it leaves out: beams.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tril {

struct SamplingRules {
  double temperature = 1;         // ≥ 0, finite
  int64_t top_k = 0;              // ≥ 0
  double top_p = 1;               // in (0, 1]
  double min_p = 0;               // in [0, 1)
  double repetition_penalty = 1;  // > 0
};

/// Throws Refusal that names the option outside its range.
void require_rules(const SamplingRules& rules);

/// The probability of every id after all rules, [V]; ids in `never` have 0. `seen` is what the penalty
/// counts. Throws Refusal where no id has a finite logit.
std::vector<double> distribution(std::span<const double> logits, const SamplingRules& rules,
                                 std::span<const int32_t> never, std::span<const int32_t> seen);

/// The id that a uniform number in [0, 1) picks.
int32_t pick(std::span<const double> probabilities, double uniform);

/// The id that pick() gives of distribution(), which is made only where it is needed. Throws as that does.
int32_t draw(std::span<const double> logits, const SamplingRules& rules, std::span<const int32_t> never,
             std::span<const int32_t> seen, double uniform);
int32_t draw(std::span<const float> logits, const SamplingRules& rules, std::span<const int32_t> never,
             std::span<const int32_t> seen, double uniform);

/// Softmax of the logits as they are, [V]: what is reported as a token's probability.
std::vector<double> probabilities(std::span<const double> logits);

}  // namespace tril
