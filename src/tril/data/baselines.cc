#include "tril/data/baselines.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tril {
namespace {

/// see(previous, id) for every target, in order.
template <class See>
void each_target(IdDocuments documents, const See& see) {
  const int64_t stream[] = {0, static_cast<int64_t>(documents.ids.size())};
  const std::span<const int64_t> starts =
      documents.starts.empty() ? std::span<const int64_t>(stream) : documents.starts;
  for (size_t d = 0; d + 1 < starts.size(); ++d)
    for (int64_t i = starts[d] + 1; i < starts[d + 1]; ++i)
      see(documents.ids[static_cast<size_t>(i - 1)], documents.ids[static_cast<size_t>(i)]);
}

}  // namespace

Baselines::Baselines(IdDocuments train, int64_t vocabulary)
    : vocabulary_(vocabulary),
      count_(static_cast<size_t>(vocabulary), 0),
      begin_(static_cast<size_t>(vocabulary) + 1, 0),
      followers_(static_cast<size_t>(vocabulary), 0) {
  std::vector<uint64_t> pairs;
  each_target(train, [&](int32_t previous, int32_t id) {
    assert(previous >= 0 && previous < vocabulary && id >= 0 && id < vocabulary);
    ++count_[static_cast<size_t>(id)];
    ++followers_[static_cast<size_t>(previous)];
    pairs.push_back(static_cast<uint64_t>(previous) << 32 | static_cast<uint64_t>(id));
  });
  total_ = static_cast<int64_t>(pairs.size());
  std::sort(pairs.begin(), pairs.end());
  for (size_t i = 0; i < pairs.size();) {
    const size_t end = static_cast<size_t>(
        std::upper_bound(pairs.begin() + static_cast<std::ptrdiff_t>(i), pairs.end(), pairs[i]) -
        pairs.begin());
    next_.push_back(static_cast<int32_t>(pairs[i] & 0xFFFFFFFFu));
    pair_count_.push_back(static_cast<int64_t>(end - i));
    ++begin_[(pairs[i] >> 32) + 1];
    i = end;
  }
  for (size_t v = 0; v < followers_.size(); ++v) begin_[v + 1] += begin_[v];
}

double Baselines::unigram(int32_t id) const {
  return static_cast<double>(count_[static_cast<size_t>(id)] + 1) / static_cast<double>(total_ + vocabulary_);
}

double Baselines::bigram(int32_t previous, int32_t id) const {
  const auto v = static_cast<size_t>(previous);
  const auto first = next_.begin() + begin_[v], last = next_.begin() + begin_[v + 1];
  const auto found = std::lower_bound(first, last, id);
  const int64_t seen =
      found != last && *found == id ? pair_count_[static_cast<size_t>(found - next_.begin())] : 0;
  const auto different = static_cast<double>(last - first);
  if (different == 0) return unigram(id);
  return (static_cast<double>(seen) + different * unigram(id)) /
         (static_cast<double>(followers_[v]) + different);
}

BaselineLosses Baselines::losses(IdDocuments documents) const {
  double unigram_sum = 0, bigram_sum = 0;
  int64_t targets = 0;
  each_target(documents, [&](int32_t previous, int32_t id) {
    unigram_sum -= std::log(unigram(id));
    bigram_sum -= std::log(bigram(previous, id));
    ++targets;
  });
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (targets == 0) return {kNone, kNone, kNone, 0};
  const auto count = static_cast<double>(targets);
  return {std::log(static_cast<double>(vocabulary_)), unigram_sum / count, bigram_sum / count, targets};
}

}  // namespace tril
