// How many weights a configuration has, by formula, before anything is allocated.
// What it leaves out: their memory (train/size_check.h) and their values (the models themselves).
#pragma once
#include <cstdint>

#include "tril/model/config.h"

namespace tril {

/// Number of weights of the model that `config` describes, with config.vocab_size tokens. 0 in kv_heads, d_k
/// and d_v means the default. A tied head counts once. Stays at INT64_MAX where the true number is larger.
///   window_mlp        V d + (w d) h + h + h V + V
///   window_attention  V d + w d + 2 d d_k + d d_v + d_v d + d h + h + h V + V
///   decoder           V d [+ C d] + layers × (attention + feed-forward + norms) + norms [+ V d] [+ V]
int64_t parameter_count(const ModelConfig& config);

}  // namespace tril
