#include "tril/model/first_loss.h"

#include <cmath>

namespace tril {

double fresh_logit_variance(const ModelConfig& config) {
  const bool normed = config.norm != "none" && (config.final_norm || config.norm_place == "post");
  if (config.family != "decoder" || !normed) return 0;
  const auto width = static_cast<double>(config.d_model);
  if (config.init == "gpt2") return width * 0.02 * 0.02;
  if (config.init == "microgpt") return width * 0.08 * 0.08;
  return config.tied ? width : 1.0 / 3;
}

double expected_first_loss(const ModelConfig& config) {
  const double even = std::log(static_cast<double>(config.vocab_size));
  const double variance = fresh_logit_variance(config);
  return variance <= 2 * even ? even + variance / 2 : std::sqrt(2 * variance * even);
}

}  // namespace tril
