// quick_pick: what pick() chooses of softmax(logits / temperature), without the exact distribution. The
// weights come from vectors, and the answer counts only where it is clear: farther from the border to the
// next id than all rounding, its own and the exact way's, could add up to. What it leaves out: every other
// rule, and the choice near a border (sampler.h).
#pragma once
#include <cstdint>
#include <span>

namespace tril {

/// Nothing to say: a border is near, a logit is not finite, or there are more than 512 ids or
/// fewer than a vector has lanes (16 at most).
inline constexpr int32_t kUnclear = -1;

/// temperature > 0, uniform in [0, 1).
int32_t quick_pick(std::span<const double> logits, double temperature, double uniform);
int32_t quick_pick(std::span<const float> logits, double temperature, double uniform);

}  // namespace tril
