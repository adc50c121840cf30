#include "tril/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tril {

double learning_rate_at(const TrainSettings& s, int64_t step) {
  const double top = s.learning_rate, low = s.min_learning_rate;
  if (step <= s.warmup) return top * static_cast<double>(step) / static_cast<double>(s.warmup + 1);
  const int64_t span = std::max<int64_t>(1, s.steps - s.warmup);
  const double p = std::min(1.0, static_cast<double>(step - 1 - s.warmup) / static_cast<double>(span));
  if (s.schedule == "cosine") return low + (top - low) * (1 + std::cos(std::numbers::pi * p)) / 2;
  if (s.schedule == "linear") return low + (top - low) * (1 - p);
  if (s.schedule == "trapezoid") {
    const int64_t fall = s.cooldown > 0 ? s.cooldown : s.steps / 5;
    const int64_t left = std::max<int64_t>(1, s.steps + 1 - step);
    if (left <= fall) return low + (top - low) * static_cast<double>(left) / static_cast<double>(fall + 1);
  }
  return top;
}

}  // namespace tril
