// Examples for the checks, taken from a corpus: windows or blocks spread evenly over its training part.
#pragma once
#include <cstdint>
#include <vector>

#include "tril/data/corpus.h"
#include "tril/model/model.h"

namespace tril {

struct Examples {
  std::vector<int32_t> ids, targets;
  int64_t count = 0, length = 0;
  bool one_target = true;
  Batch batch() const;
  /// Their ids alone, [count, length].
  Tensor input() const;
};

/// Up to `most` examples, spread evenly. With `full`, windows without padding come first choice.
Examples spread_examples(const Model& model, const Corpus& corpus, int64_t most, bool full = false);
/// The first `most` of the training part.
Examples first_examples(const Model& model, const Corpus& corpus, int64_t most);

}  // namespace tril
