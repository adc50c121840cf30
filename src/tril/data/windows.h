// Windows: the examples of a window model. A document is BOS w1 … wn EOS; each of its positions from 1 on is
// one target, and its example is that target with the `context` ids before it, padded on the left, never
// reaching into another document. Windows are views: nothing is stored for each of them. It leaves out
// drawing batches (train) and streams without documents (blocks.h).
#pragma once
#include <cstdint>
#include <span>

#include "tril/data/tokens.h"

namespace tril {

/// Invariants: the tokens outlive the view; every document has at least one id.
class Windows {
 public:
  struct Place {
    int64_t document;  // index into the tokens' documents
    int64_t position;  // index in the document, BOS being 0: at least 1
  };

  Windows(const Tokens& tokens, int64_t context, int32_t pad)
      : tokens_(&tokens), context_(context), pad_(pad) {}

  /// Targets in all: the ids but for the first of each document.
  int64_t targets() const { return static_cast<int64_t>(tokens_->ids.size()) - tokens_->documents(); }
  int64_t context() const { return context_; }

  /// Where target number t, 0 ≤ t < targets(), stands: documents in order, then positions. O(log documents).
  Place place(int64_t t) const;

  /// The id to predict.
  int32_t target(int64_t t) const { return tokens_->ids[static_cast<size_t>(index(place(t)))]; }

  /// Writes the `context` ids before target t to `out`, the nearest last, and returns the target.
  int32_t fetch(int64_t t, int32_t* out) const;

  /// A batch. Shapes: contexts [B, context], targets [B], B = which.size().
  void gather(std::span<const int64_t> which, int32_t* contexts, int32_t* targets) const;

 private:
  int64_t index(Place place) const {
    return tokens_->starts[static_cast<size_t>(place.document)] + place.position;
  }

  const Tokens* tokens_;
  int64_t context_;
  int32_t pad_;
};

}  // namespace tril
