#include "tril/model/multiplies.h"

namespace tril {

double forward_multiplies(const ModelConfig& c, int64_t block) {
  const auto d = static_cast<double>(c.d_model), hidden = static_cast<double>(c.hidden);
  const auto vocabulary = static_cast<double>(c.vocab_size), window = static_cast<double>(c.context);
  const double d_k = c.d_k == 0 ? d : static_cast<double>(c.d_k),
               d_v = c.d_v == 0 ? d : static_cast<double>(c.d_v);
  if (c.family == "window_mlp") return window * d * hidden + hidden * vocabulary;
  if (c.family == "window_attention")  // keys and values of the whole window, the last query alone
    return window * d * (d_k + d_v) + d * d_k + window * (d_k + d_v) + d_v * d + d * hidden +
           hidden * vocabulary;
  const double share = c.kv_heads == 0 ? 1 : static_cast<double>(c.kv_heads) / static_cast<double>(c.heads);
  const double seen = c.mask == "causal" ? (static_cast<double>(block) + 1) / 2 : static_cast<double>(block);
  const double feed_forward = (c.activation == "swiglu" ? 3 : 2) * d * hidden;
  const double a_layer = d * d_k + share * d * (d_k + d_v) + seen * (d_k + d_v) + d_v * d + feed_forward;
  return static_cast<double>(c.layers) * a_layer + d * vocabulary;
}

double training_multiplies(const ModelConfig& config, int64_t block) {
  return 3 * forward_multiplies(config, block);
}

}  // namespace tril
