#include "tril/autograd/gradient_check.h"

#include <algorithm>
#include <cmath>

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
    const auto far = [&](double slope_there) {
      return options.refine_above > 0 &&
             !(std::fabs(slope[i] - slope_there) <= options.refine_above * result.largest);
    };
    double slope_there = (at(kept + options.h) - at(kept - options.h)) / (2 * options.h);
    for (const double h : {options.h, options.h / 10}) {
      if (!far(slope_there)) break;
      slope_there = (8 * (at(kept + h) - at(kept - h)) - (at(kept + 2 * h) - at(kept - 2 * h))) / (12 * h);
    }
    value[i] = kept;
    if (crossed) {
      ++result.left_out;
      return;
    }
    ++result.compared;
    const double error = std::fabs(slope[i] - slope_there);
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
