// Examples for the checks, taken from a corpus: windows or blocks spread evenly over its training part.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tril/data/corpus.h"
#include "tril/model/model.h"

namespace tril {

struct Examples {
  std::vector<int32_t> ids, targets;
  int64_t count = 0, length = 0;
  bool one_target = true;
  bool first = false;  // at the start of the training part, else spread over it
  Batch batch() const;
  /// Their ids alone, [count, length].
  Tensor input() const;
  /// Padded places at the left of example b.
  int64_t padding(int64_t b) const;
  /// The first `kept` windows, or the only block's first `kept` tokens.
  Examples first_part(int64_t kept) const;
  /// "32 windows of 12 tokens spread over the training part"
  std::string text() const;
};

/// Up to `most` examples, spread evenly. With `full`, windows without padding come first choice.
Examples spread_examples(const Model& model, const Corpus& corpus, int64_t most, bool full = false);
/// The first `most` targets of the training part: as many windows, or one block.
Examples first_targets(const Model& model, const Corpus& corpus, int64_t most);

}  // namespace tril
