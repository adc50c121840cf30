// Parameter counts of the three families.
#include "tril/model/parameter_count.h"

#include <limits>

#include "tril/model/lora.h"

namespace tril {
namespace {

// A whole number that stays at the largest one instead of overflowing.
struct Count {
  int64_t n = 0;
  friend Count operator*(Count a, Count b) {
    Count c;
    return __builtin_mul_overflow(a.n, b.n, &c.n) ? Count{std::numeric_limits<int64_t>::max()} : c;
  }
  friend Count operator+(Count a, Count b) {
    Count c;
    return __builtin_add_overflow(a.n, b.n, &c.n) ? Count{std::numeric_limits<int64_t>::max()} : c;
  }
};

struct Sizes {
  Count vocabulary, context, width, d_k, d_v, hidden;
};

Count window_mlp(const Sizes& s) {
  return s.vocabulary * s.width + s.context * s.width * s.hidden + s.hidden + s.hidden * s.vocabulary +
         s.vocabulary;
}

Count window_attention(const Sizes& s) {
  const Count embeddings = s.vocabulary * s.width + s.context * s.width;
  const Count attention = s.width * s.d_k + s.width * s.d_k + s.width * s.d_v + s.d_v * s.width;
  const Count feed_forward = s.width * s.hidden + s.hidden;
  return embeddings + attention + feed_forward + s.hidden * s.vocabulary + s.vocabulary;
}

Count decoder(const Sizes& s, const ModelConfig& config) {
  const auto optional = [](bool present, Count count) { return present ? count : Count{0}; };
  const bool layer = config.norm == "layer";
  const Count norm =
      optional(config.norm != "none" && config.norm_gain, s.width) + optional(layer && config.bias, s.width);

  const int64_t kv_heads = config.kv_heads > 0 ? config.kv_heads : config.heads;
  const Count keys = Count{s.d_k.n / config.heads} * Count{kv_heads},
              values = Count{s.d_v.n / config.heads} * Count{kv_heads};
  const Count attention = s.width * s.d_k + s.width * keys + s.width * values + s.d_v * s.width +
                          optional(config.attention_bias, s.d_k + keys + values + s.width);

  const Count inner{config.activation == "swiglu" ? 2 : 1};  // swiglu has a gate beside the layer itself
  const Count feed_forward =
      inner * s.width * s.hidden + s.hidden * s.width + optional(config.bias, inner * s.hidden + s.width);

  const Count embeddings =
      s.vocabulary * s.width + optional(config.position == "learned", s.context * s.width);
  const Count blocks = Count{config.layers} * (attention + feed_forward + norm + norm);
  const Count ends = optional(config.embedding_norm, norm) + optional(config.final_norm, norm);
  Count adapters;
  for (const LoraAdapter& a : lora_adapters(config))
    adapters = adapters + Count{config.lora.rank} * Count{a.in + a.out};
  return embeddings + blocks + ends + adapters + optional(!config.tied, s.vocabulary * s.width) +
         optional(config.head_bias, s.vocabulary);
}

}  // namespace

int64_t parameter_count(const ModelConfig& config) {
  const Sizes sizes = {{config.vocab_size},
                       {config.context},
                       {config.d_model},
                       {config.d_k > 0 ? config.d_k : config.d_model},
                       {config.d_v > 0 ? config.d_v : config.d_model},
                       {config.hidden}};
  if (config.family == "window_mlp") return window_mlp(sizes).n;
  if (config.family == "window_attention") return window_attention(sizes).n;
  return decoder(sizes, config).n;
}

}  // namespace tril
