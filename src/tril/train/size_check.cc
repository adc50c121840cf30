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

// Numbers that training keeps of one example at least: values, and as many gradients. Window models: the
// token rows before and after the positions, K and V of the window; the last query's path; the hidden layer
// before and after its ReLU; the logits. Decoders: a layer's input, Q, K, V, messages and hidden layer, for
// each token.
int64_t numbers_of_an_example(const Config& config) {
  const ModelConfig& m = config.model;
  const int64_t answer = sum(product(2, m.hidden), m.vocab_size);
  if (m.family == "window_mlp") return product(2, sum(product(m.context, m.d_model), answer));
  if (m.family == "window_attention")
    return product(2, sum(sum(product(product(4, m.context), m.d_model), product(5, m.d_model)), answer));
  const int64_t length = config.train.block > 0 ? config.train.block : m.context;
  const int64_t layers = config.train.recompute ? 1 : m.layers;
  return product(2, product(product(length, layers), sum(product(5, m.d_model), m.hidden)));
}

}  // namespace

int64_t least_training_bytes(const Config& config) {
  const int64_t value = config.run.dtype == "f64" ? 8 : 4;
  // Gradients and moments are those of what is trained, of which train.freeze may leave next to nothing.
  ModelConfig plain = config.model;
  plain.lora = {};
  const int64_t all = parameter_count(config.model);
  const int64_t trained = config.model.lora.rank > 0 ? all - parameter_count(plain) : all;
  const int64_t weights =
      sum(product(all, value), config.train.freeze.empty() ? product(trained, 3 * value) : 0);
  const int64_t part = (config.train.batch + config.train.accumulate - 1) / config.train.accumulate;
  return sum(weights, product(product(part, numbers_of_an_example(config)), value));
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
