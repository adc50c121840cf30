#include "tril/data/windows.h"

#include <algorithm>
#include <cassert>

namespace tril {

Windows::Place Windows::place(int64_t t) const {
  assert(t >= 0 && t < targets());
  // Document d begins at target starts[d] − d, since each document before it has one id that is no target.
  const std::vector<int64_t>& starts = tokens_->starts;
  int64_t low = 0, high = tokens_->documents();  // the document is in [low, high)
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (starts[static_cast<size_t>(middle)] - middle <= t ? low : high) = middle;
  }
  return {low, t - (starts[static_cast<size_t>(low)] - low) + 1};
}

int32_t Windows::fetch(int64_t t, int32_t* out) const {
  const Place at = place(t);
  const int64_t known = std::min(at.position, context_);
  const int32_t* target = tokens_->ids.data() + index(at);
  std::fill_n(out, context_ - known, pad_);
  std::copy_n(target - known, known, out + context_ - known);
  return *target;
}

void Windows::gather(std::span<const int64_t> which, int32_t* contexts, int32_t* targets) const {
  for (size_t i = 0; i < which.size(); ++i) {
    targets[i] = fetch(which[i], contexts + static_cast<int64_t>(i) * context_);
  }
}

}  // namespace tril
