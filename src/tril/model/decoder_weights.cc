// The decoder's parameters: their names and shapes, and their first values. What it computes with them is in
// decoder.cc.
#include <algorithm>
#include <cmath>

#include "tril/model/decoder.h"
#include "tril/model/lora.h"

namespace tril {
namespace {

void fill(const Tensor& t, double number) {
  with_real(t.dtype, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(t.as<T>(), t.count(), static_cast<T>(number));
  });
}

// The draws of each generator, in the order of a tensor's rows.
struct TorchDraw {
  TorchGenerator& random;
  void normal(const Tensor& t, double deviation) { draw_normal(random, t, 0, deviation); }
  void uniform(const Tensor& t, int64_t fan_in) {
    if (t.shape.rank() == 2) {
      draw_linear_weight(random, t);
    } else {
      draw_linear_bias(random, t, fan_in);
    }
  }
};

struct PythonDraw {
  PythonRandom& random;
  template <class Next>
  void each(const Tensor& t, const Next& next) {
    with_real(t.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (T& number : t.span<T>()) number = static_cast<T>(next());
    });
  }
  void normal(const Tensor& t, double deviation) {
    each(t, [&] { return random.gauss(0, deviation); });
  }
  void uniform(const Tensor& t, int64_t fan_in) {
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    each(t, [&] { return random.uniform(-bound, bound); });
  }
};

}  // namespace

Decoder::Decoder(const ModelConfig& config, DType dtype)
    : Model(config, dtype), kv_heads_(config.kv_heads > 0 ? config.kv_heads : config.heads) {
  const int64_t d = config.d_model, d_k = config.d_k > 0 ? config.d_k : d,
                d_v = config.d_v > 0 ? config.d_v : d;
  head_k_ = d_k / config.heads;
  head_v_ = d_v / config.heads;
  tokens_ = parameters_.add("token_embedding.weight", {config.vocab_size, d});
  if (config.position == "learned")
    positions_ = parameters_.add("position_embedding.weight", {config.context, d});
  if (config.embedding_norm) embedding_norm_ = add_norm("embedding_norm");
  for (int64_t i = 0; i < config.layers; ++i) blocks_.push_back(add_block("blocks." + std::to_string(i)));
  if (config.final_norm) final_norm_ = add_norm("final_norm");
  head_.weight = config.tied ? tokens_ : parameters_.add("head.weight", {config.vocab_size, d});
  if (config.head_bias) head_.bias = parameters_.add("head.bias", {config.vocab_size});
  add_adapters();
  parameters_.allocate();
  narrow_ = narrow_decoder(config);
}

// They stand last, so that the model they are beside has its places as without them.
void Decoder::add_adapters() {
  const std::vector<LoraAdapter> all = lora_adapters(config_);
  if (!all.empty()) adapters_.resize(static_cast<size_t>(parameters_.size()));
  for (const LoraAdapter& adapter : all) {
    const int a = parameters_.add(adapter.name + ".lora_A", {config_.lora.rank, adapter.in});
    const int b = parameters_.add(adapter.name + ".lora_B", {adapter.out, config_.lora.rank});
    int64_t first = 0;
    for (const LoraAdapter::Layer& layer : adapter.layers) {
      adapters_[static_cast<size_t>(parameters_.find(layer.name + ".weight"))] = {a, b, first};
      first += layer.rows;
    }
  }
}

Decoder::Layer Decoder::add_layer(const std::string& name, int64_t out, int64_t in, bool bias) {
  Layer layer;
  layer.weight = parameters_.add(name + ".weight", {out, in});
  if (bias) layer.bias = parameters_.add(name + ".bias", {out});
  return layer;
}

Decoder::Norm Decoder::add_norm(const std::string& name) {
  Norm norm;
  if (config_.norm != "none" && config_.norm_gain)
    norm.gain = parameters_.add(name + ".weight", {config_.d_model});
  if (config_.norm == "layer" && config_.bias) norm.bias = parameters_.add(name + ".bias", {config_.d_model});
  return norm;
}

Decoder::Block Decoder::add_block(const std::string& name) {
  const int64_t d = config_.d_model;
  const bool bias = config_.attention_bias;
  Block b;
  b.attention_norm = add_norm(name + ".attention_norm");
  b.q = add_layer(name + ".attention.W_Q", config_.heads * head_k_, d, bias);
  b.k = add_layer(name + ".attention.W_K", kv_heads_ * head_k_, d, bias);
  b.v = add_layer(name + ".attention.W_V", kv_heads_ * head_v_, d, bias);
  b.o = add_layer(name + ".attention.W_O", d, config_.heads * head_v_, bias);
  b.mlp_norm = add_norm(name + ".mlp_norm");
  if (config_.activation == "swiglu") b.gate = add_layer(name + ".mlp.gate", config_.hidden, d, config_.bias);
  b.up = add_layer(name + ".mlp.up", config_.hidden, d, config_.bias);
  b.down = add_layer(name + ".mlp.down", d, config_.hidden, config_.bias);
  return b;
}

// "torch": rows normal(0, 1), layers and their biases uniform ±1/√fan_in, as nn.Embedding and nn.Linear.
// "gpt2": all matrices normal(0, 0.02), those that write to the residual by 1/√(2 layers) of it, biases zero.
// "microgpt": all matrices normal(0, 0.08), biases zero. Norms begin as gain 1 and bias 0 and draw nothing.
template <class Draw>
void Decoder::draw_all(Draw& draw) {
  const bool torch = config_.init == "torch", microgpt = config_.init == "microgpt";
  const double spread = microgpt ? 0.08 : 0.02;
  const auto rows = [&](int index) {
    if (index >= 0) draw.normal(parameters_.value(index), torch ? 1 : spread);
  };
  const auto layer = [&](const Layer& l, bool residual) {
    if (l.weight < 0) return;
    const Tensor w = parameters_.value(l.weight);
    const double share =
        residual && config_.init == "gpt2" ? 1 / std::sqrt(2.0 * static_cast<double>(config_.layers)) : 1;
    if (torch) {
      draw.uniform(w, w.shape[1]);
      if (l.bias >= 0) draw.uniform(parameters_.value(l.bias), w.shape[1]);
    } else {
      draw.normal(w, spread * share);
      if (l.bias >= 0) fill(parameters_.value(l.bias), 0);
    }
    if (residual && config_.zero_init) fill(w, 0);
  };
  const auto head = [&] {
    if (!config_.tied) return layer(head_, false);
    if (head_.bias >= 0) fill(parameters_.value(head_.bias), 0);
  };
  for (int i = 0; i < parameters_.size(); ++i)
    if (parameters_.info(i).name.find("norm.") != std::string::npos)
      fill(parameters_.value(i), parameters_.info(i).name.ends_with(".weight") ? 1 : 0);

  rows(tokens_);
  rows(positions_);
  if (microgpt) head();
  for (const Block& b : blocks_) {
    for (const Layer& l : {b.q, b.k, b.v}) layer(l, false);
    layer(b.o, true);
    layer(b.gate, false);
    layer(b.up, false);
    layer(b.down, true);
  }
  if (!microgpt) head();
  draw_lora(parameters_, [&](const Tensor& a) { draw.uniform(a, a.shape[1]); });
}

void Decoder::initialize(TorchGenerator& random) {
  TorchDraw draw{random};
  draw_all(draw);
}

void Decoder::initialize(PythonRandom& random) {
  PythonDraw draw{random};
  draw_all(draw);
}

}  // namespace tril
