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

#include "tril/data/tokens.h"

namespace tril {

/// Ids in one array; document i is ids[starts[i]] … ids[starts[i+1]-1]. Every position but a document's first
/// is a target. No starts: the ids are one stream.
struct IdDocuments {
  std::span<const int32_t> ids;     // each in [0, V)
  std::span<const int64_t> starts;  // [documents + 1], rising, from 0 to the size of ids
};
/// The targets of windows: BOS and EOS stand in the ids, and no target is in another document than its
/// context.
inline IdDocuments documents_of(const Tokens& tokens) {
  return {tokens.ids, tokens.starts};
}
/// The targets of blocks, which may cross the ends of documents.
inline IdDocuments stream_of(const Tokens& tokens) {
  return {tokens.ids, {}};
}

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
