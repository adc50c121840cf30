// Steps on several ranks.
#include "tril/plan/scaling.h"

#include <algorithm>
#include <cmath>

namespace tril {

namespace {

double levels(int64_t ranks) {
  return std::ceil(std::log2(static_cast<double>(ranks)));
}

}  // namespace

double sum_seconds(int64_t ranks, double bytes, int64_t buckets, const Link& link) {
  const auto n = static_cast<double>(ranks);
  return 2 * (static_cast<double>(buckets) * levels(ranks) * link.latency +
              (n - 1) / n * bytes / link.bytes_per_second);
}

Link fit_link(int64_t ranks, const std::vector<SumPoint>& points) {
  const auto by_bytes = [](const SumPoint& a, const SumPoint& b) { return a.bytes < b.bytes; };
  const auto [small, large] = std::minmax_element(points.begin(), points.end(), by_bytes);
  const auto n = static_cast<double>(ranks);
  return {small->seconds / (2 * levels(ranks)),
          2 * (n - 1) / n * large->bytes / std::max(large->seconds - small->seconds, 1e-12)};
}

double step_seconds(int64_t ranks, double batch, const RankStep& step, const Link& link) {
  constexpr double kBackward = 2.0 / 3;
  const double own = step.example * batch / static_cast<double>(ranks);
  if (ranks == 1) return step.fixed + own;
  const double hidden = sum_seconds(ranks, step.bytes, step.buckets, link) - kBackward * own;
  const double last = sum_seconds(ranks, step.last_bytes, 1, link);
  // The order before the step, and the loss after it: two small messages down and up a tree.
  const double small = 4 * levels(ranks) * link.latency;
  return step.fixed + own + std::max(last, hidden) + small;
}

}  // namespace tril
