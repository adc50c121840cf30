// multiplies: how many multiplications the matrix products of a model take, from its sizes. Forward, each
// weight matrix is met once for each row it is applied to, and attention multiplies queries by keys and
// weights by values; backward takes twice as many. What it leaves out: norms, activations, softmax.
#pragma once
#include <cstdint>

#include "tril/model/config.h"

namespace tril {

/// Forward, for one target of a training example; `block` is the length of a decoder's training slices.
double forward_multiplies(const ModelConfig& config, int64_t block);
/// Forward and backward: three times as many.
double training_multiplies(const ModelConfig& config, int64_t block);

}  // namespace tril
