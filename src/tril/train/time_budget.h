// time_budget: how many steps fit into the time that train.minutes gives, from the program's start to its
// end. The number is decided once, when about four fifths of the time are spent: up to then the rate stays as
// it is, and the steps that are left are its fall (schedule trapezoid). So the clock decides one number, and
// the bits follow from it (docs/time-budget.md). What it leaves out: choosing a model (plan/dial.h).
#pragma once
#include <cstdint>
#include <optional>

#include "tril/train/settings.h"

namespace tril {

/// Seconds since the program started.
double program_seconds();

class TimeBudget {
 public:
  /// `spent`: seconds that earlier programs gave to the run; `done` steps are behind it.
  TimeBudget(double minutes, double spent, int64_t done);

  /// Called after a step, when all that belongs to it (evaluation, checkpoint) is over. `closing` is how long
  /// the end takes: the last evaluation, over all of the validation part. Gives the number of steps that are
  /// left, at least 1, when it is time to decide.
  std::optional<int64_t> steps_left(int64_t done, double closing) const;
  /// Seconds that the run took so far.
  double spent() const;

 private:
  double seconds_, before_, started_;
  int64_t first_;
};

/// A time budget's run becomes a plain one: `left` more steps, in which the rate falls, but no more in all
/// than settings.steps, of which some must be left.
void settle(TrainSettings& settings, int64_t done, int64_t left);

}  // namespace tril
