// How far two models' logits are apart: what an export says of the file it wrote, read again. What it leaves
// out: reading the file (foreign_model.h).
#pragma once
#include <cstdint>

#include "tril/model/model.h"

namespace tril {

struct LogitDifference {
  double largest = 0;  // |difference|
  double scale = 1;    // max(1, largest |logit| of the first model)
  int64_t positions = 0;
};

/// Both models run on the same ids: as many as the context holds, at most 32, spread over the vocabulary.
/// Their vocabularies must be of one size.
LogitDifference logit_difference(const Model& a, const Model& b);

}  // namespace tril
