#include "tril/autograd/gradient_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tril {

GradientCheck check_gradient(const std::function<double()>& f, Tensor x, Tensor grad,
                             const GradientCheckOptions& options) {
  GradientCheck result;
  double* value = x.as<double>();
  const double* slope = grad.as<double>();
  for (int64_t i = 0; i < x.count(); ++i) result.largest = std::max(result.largest, std::fabs(slope[i]));
  uint64_t here = 0;
  if (options.kinks) {
    f();
    here = options.kinks();
  }
  const auto compare = [&](int64_t i) {
    const double kept = value[i];
    bool crossed = false;
    const auto at = [&](double moved) {
      value[i] = moved;
      const double result_there = f();
      crossed = crossed || (options.kinks && options.kinks() != here);
      return result_there;
    };
    // What is left of a difference's distance once f's own rounding is taken off.
    const auto error_of = [&](double slope_there, double above, double h) {
      const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::fabs(above) / h;
      const double off = std::fabs(slope[i] - slope_there);
      return off <= rounding ? 0 : off;
    };
    const double above = at(kept + options.h), below = at(kept - options.h);
    double error = error_of((above - below) / (2 * options.h), above, options.h);
    for (const double h : {options.h, options.h / 10}) {
      if (options.refine_above == 0 || error <= options.refine_above * result.largest) break;
      const double finer =
          (8 * (at(kept + h) - at(kept - h)) - (at(kept + 2 * h) - at(kept - 2 * h))) / (12 * h);
      error = error_of(finer, above, h);
    }
    value[i] = kept;
    if (crossed) {
      ++result.left_out;
      return;
    }
    ++result.compared;
    if (!std::isnan(result.worst) && !(error <= result.worst)) {  // a NaN is the worst of all, and stays
      result.worst = error;
      result.worst_at = i;
    }
  };
  if (options.entries.empty()) {
    for (int64_t i = 0; i < x.count(); ++i) compare(i);
  } else {
    for (int64_t i : options.entries) compare(i);
  }
  return result;
}

}  // namespace tril
