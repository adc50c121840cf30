// The number of steps that a time gives.
#include "tril/train/time_budget.h"

#include "tril/base/clock.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace tril {
namespace {

// Before main(); what the system took until then to load the program is its processor time, unless it took
// the place of a program that had worked before.
constexpr double kLongestLoading = 0.5;  // seconds
const double begun =
    steady_seconds() - std::min(static_cast<double>(std::clock()) / CLOCKS_PER_SEC, kLongestLoading);

constexpr double kFall = 0.2;   // the share of the time in which the rate falls
constexpr double kExit = 0.05;  // seconds to print, free and end

}  // namespace

double program_seconds() {
  return steady_seconds() - begun;
}

TimeBudget::TimeBudget(double minutes, double spent, int64_t done)
    : seconds_(60 * minutes), before_(spent), started_(program_seconds()), first_(done) {}

double TimeBudget::spent() const {
  return before_ + program_seconds();
}

std::optional<int64_t> TimeBudget::steps_left(int64_t done, double closing) const {
  const double usable = seconds_ - closing - kExit, left = usable - spent();
  if (left > kFall * usable) return std::nullopt;
  const double taken = std::max(program_seconds() - started_, 1e-6);
  const double step = taken / static_cast<double>(std::max<int64_t>(1, done - first_));
  return std::max<int64_t>(1, std::llround(left / step));
}

void settle(TrainSettings& settings, int64_t done, int64_t left) {
  settings.minutes = 0;
  left = std::max<int64_t>(1, std::min(left, settings.steps - done));
  settings.steps = done + left;
  settings.warmup = std::min(settings.warmup, settings.steps);
  settings.cooldown = settings.schedule == "trapezoid" ? std::min(left, settings.steps - settings.warmup) : 0;
}

}  // namespace tril
