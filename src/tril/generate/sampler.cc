#include "tril/generate/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tril/base/error.h"
#include "tril/generate/quick_pick.h"

namespace tril {
namespace {

constexpr double kOut = -std::numeric_limits<double>::infinity();

void penalise(std::vector<double>& logits, double penalty, std::span<const int32_t> seen) {
  if (penalty == 1) return;
  std::vector<bool> done(logits.size());
  for (int32_t id : seen) {
    const auto i = static_cast<size_t>(id);
    if (i >= logits.size() || done[i]) continue;
    done[i] = true;
    logits[i] = logits[i] > 0 ? logits[i] / penalty : logits[i] * penalty;
  }
}

// Largest first, equals by rising id.
struct Larger {
  const std::vector<double>& values;
  bool operator()(size_t a, size_t b) const { return values[a] != values[b] ? values[a] > values[b] : a < b; }
};

// The ids that still have a chance, largest first; only the first `count` of them are in order where it is
// less than all.
std::vector<size_t> ranked(const std::vector<double>& values, size_t count) {
  std::vector<size_t> order;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != kOut) order.push_back(i);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    Larger{values});
  return order;
}

void keep_first(std::vector<double>& values, const std::vector<size_t>& order, size_t count, double out) {
  for (size_t i = count; i < order.size(); ++i) values[order[i]] = out;
}

void normalise(std::vector<double>& p) {
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& value : p) value /= sum;
}

bool temperature_alone(const SamplingRules& r, std::span<const int32_t> never) {
  return r.temperature > 0 && r.top_k == 0 && r.top_p == 1 && r.min_p == 0 && r.repetition_penalty == 1 &&
         never.empty();
}

}  // namespace

void require_rules(const SamplingRules& r) {
  if (!(r.temperature >= 0) || !std::isfinite(r.temperature))
    refuse("temperature must be a number from 0 (greedy) up, is {}", r.temperature);
  if (r.top_k < 0) refuse("top-k must be 0 (off) or more, is {}", r.top_k);
  if (!(r.top_p > 0 && r.top_p <= 1)) refuse("top-p must be above 0 and at most 1, is {}", r.top_p);
  if (!(r.min_p >= 0 && r.min_p < 1)) refuse("min-p must be from 0 up to below 1, is {}", r.min_p);
  if (!(r.repetition_penalty > 0) || !std::isfinite(r.repetition_penalty))
    refuse("repetition-penalty must be above 0, is {}", r.repetition_penalty);
}

std::vector<double> probabilities(std::span<const double> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  for (size_t i = 0; i < p.size(); ++i) p[i] = std::exp(logits[i] - top);
  normalise(p);
  return p;
}

std::vector<double> distribution(std::span<const double> logits, const SamplingRules& rules,
                                 std::span<const int32_t> never, std::span<const int32_t> seen) {
  for (double value : logits)
    if (!std::isfinite(value)) refuse("the model gives a logit of {}: its weights are broken", value);
  std::vector<double> x(logits.begin(), logits.end());
  penalise(x, rules.repetition_penalty, seen);
  for (int32_t id : never)
    if (id >= 0 && static_cast<size_t>(id) < x.size()) x[static_cast<size_t>(id)] = kOut;
  for (double value : x)
    if (std::isnan(value) || value == -kOut)
      refuse("the model gives a logit of {}: its weights are broken", value);
  const auto largest = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  if (x[largest] == kOut) refuse("no token is left to choose from");
  if (rules.temperature == 0) {
    std::vector<double> certain(x.size());
    certain[largest] = 1;
    return certain;
  }
  const auto k = static_cast<size_t>(rules.top_k);
  if (k > 0 && k < x.size()) keep_first(x, ranked(x, k), k, kOut);
  const std::vector<size_t> order = rules.top_p < 1 ? ranked(x, x.size()) : std::vector<size_t>();
  const double top = x[largest];
  for (double& value : x)
    value = top + (value - top) / rules.temperature;  // the largest stays, so exp can't overflow
  std::vector<double> p = probabilities(x);
  if (rules.top_p < 1) {
    double sum = 0;
    size_t kept = 0;
    while (kept < order.size() && sum < rules.top_p) sum += p[order[kept++]];
    keep_first(p, order, kept, 0);
    normalise(p);
  }
  if (rules.min_p > 0) {
    const double least = rules.min_p * p[largest];
    for (double& value : p) value = value < least ? 0 : value;
    normalise(p);
  }
  return p;
}

int32_t pick(std::span<const double> p, double uniform) {
  double sum = 0;
  size_t last = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    sum += p[i];
    last = i;
    if (sum > uniform) break;
  }
  return static_cast<int32_t>(last);  // rounding can leave the sum just below 1: then the last possible id
}

int32_t draw(std::span<const double> logits, const SamplingRules& rules, std::span<const int32_t> never,
             std::span<const int32_t> seen, double uniform) {
  const int32_t id =
      temperature_alone(rules, never) ? quick_pick(logits, rules.temperature, uniform) : kUnclear;
  return id != kUnclear ? id : pick(distribution(logits, rules, never, seen), uniform);
}

int32_t draw(std::span<const float> logits, const SamplingRules& rules, std::span<const int32_t> never,
             std::span<const int32_t> seen, double uniform) {
  const int32_t id =
      temperature_alone(rules, never) ? quick_pick(logits, rules.temperature, uniform) : kUnclear;
  const auto exact = [&] {
    const std::vector<double> wide(logits.begin(), logits.end());
    return pick(distribution(wide, rules, never, seen), uniform);
  };
  return id != kUnclear ? id : exact();
}

}  // namespace tril
