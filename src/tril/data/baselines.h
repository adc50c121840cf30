// What a model must beat: the cross-entropy of three models that need no training, counted on the training
// split.
//   uniform   p(w) = 1 / V
//   unigram   p(w) = (c(w) + 1) / (N + V)                           add-one (Laplace)
//   bigram    p(w|v) = (c(v,w) + T(v) p(w)) / (c(v) + T(v))         interpolated with the unigram (Witten and
//   Bell 1991)
// c: counts among the training targets; N: their sum; c(v): targets that follow v; T(v): how many different
// ones do. A v that training never showed leaves the unigram. Each p sums to 1 over the V ids. It leaves out
// longer contexts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tril {

/// Documents as one array of ids; document i is ids[offsets[i]] … ids[offsets[i+1]-1], BOS and EOS with it.
/// Every position but a document's first is a target.
struct IdDocuments {
  std::span<const int32_t> ids;      // [offsets.back()], each in [0, V)
  std::span<const int64_t> offsets;  // [documents + 1], rising, from 0; empty for no documents
};

/// Means over the targets, in nats. Without targets the losses are NaN.
struct BaselineLosses {
  double uniform, unigram, bigram;
  int64_t targets;
};

/// Counts of one training split. It holds 16 bytes for each different pair, and 8 for each target while it
/// counts.
class Baselines {
 public:
  Baselines(IdDocuments train, int64_t vocabulary);

  double unigram(int32_t id) const;                    // p(id)
  double bigram(int32_t previous, int32_t id) const;   // p(id | previous)
  BaselineLosses losses(IdDocuments documents) const;  // of any split, the training one too

 private:
  int64_t vocabulary_, total_ = 0;
  std::vector<int64_t> count_;       // [V] c(w)
  std::vector<int64_t> begin_;       // [V + 1] where the pairs of v begin
  std::vector<int64_t> followers_;   // [V] c(v)
  std::vector<int32_t> next_;        // of each pair (v, w), by v then w: w
  std::vector<int64_t> pair_count_;  // c(v, w)
};

}  // namespace tril
