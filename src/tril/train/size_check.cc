// The lower bound of memory.
#include "tril/train/size_check.h"

#include <algorithm>
#include <limits>

#include "tril/base/error.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/model/parameter_count.h"

namespace tril {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

int64_t product(int64_t a, int64_t b) {
  int64_t c = 0;
  return __builtin_mul_overflow(a, b, &c) ? kMost : c;
}
int64_t sum(int64_t a, int64_t b) {
  int64_t c = 0;
  return __builtin_add_overflow(a, b, &c) ? kMost : c;
}

// Values that backward needs of one token in one layer: the input, Q, K, V and messages, and the hidden
// layer.
int64_t activations_of_a_token(const ModelConfig& model) {
  if (model.family == "window_mlp") return model.d_model;
  return sum(product(5, model.d_model), model.family == "decoder" ? model.hidden : 0);
}

}  // namespace

int64_t least_training_bytes(const Config& config) {
  const int64_t value = config.run.dtype == "f64" ? 8 : 4;
  const int64_t weights = product(parameter_count(config.model), 4 * value);
  const int64_t length = config.train.block > 0 ? config.train.block : config.model.context;
  const int64_t part = (config.train.batch + config.train.accumulate - 1) / config.train.accumulate;
  const int64_t layers = config.train.recompute ? 1 : config.model.layers;
  const int64_t tokens = product(part, length);
  return sum(weights, product(product(product(tokens, activations_of_a_token(config.model)), layers), value));
}

void refuse_oversize(const Config& config, int64_t machine) {
  const int64_t needed = least_training_bytes(config);
  if (needed <= machine) return;
  const int64_t parameters = parameter_count(config.model);
  const std::string count =
      parameters == kMost ? "more parameters than 64 bits count" : with_commas(parameters) + " parameters";
  refuse("this model has {}; training it in batches of {} needs at least {}, and the machine has {}", count,
         with_commas(config.train.batch), needed == kMost ? "8 EB" : short_bytes(static_cast<double>(needed)),
         short_bytes(static_cast<double>(machine)));
}

}  // namespace tril
