#include "tril/model/decoder.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "tril/model/lora.h"
#include "tril/ops/add.h"
#include "tril/ops/attention.h"
#include "tril/ops/concat.h"
#include "tril/ops/dropout.h"
#include "tril/ops/embedding.h"
#include "tril/ops/gelu.h"
#include "tril/ops/gelu_tanh.h"
#include "tril/ops/last_row.h"
#include "tril/ops/layer_norm.h"
#include "tril/ops/linear.h"
#include "tril/ops/linear_cross_entropy.h"
#include "tril/ops/lora_linear.h"
#include "tril/ops/positions.h"
#include "tril/ops/relu.h"
#include "tril/ops/relu2.h"
#include "tril/ops/rms_norm.h"
#include "tril/ops/rotary.h"
#include "tril/ops/softcap.h"
#include "tril/ops/swiglu.h"

namespace tril {
namespace {

// Each document's rows count their positions from 0.
Tensor places_of(Arena& arena, const Tensor& lengths, int64_t rows) {
  const Tensor places = arena.tensor({rows}, DType::i32);
  int64_t row = 0;
  for (int64_t n = 0; n < lengths.count(); ++n)
    for (int32_t place = 0; place < lengths.as<int32_t>()[n]; ++place) places.as<int32_t>()[row++] = place;
  assert(row == rows);
  return places;
}

int64_t longest(const Tensor& lengths) {
  int64_t most = 0;
  for (int32_t length : lengths.span<int32_t>()) most = std::max<int64_t>(most, length);
  return most;
}

}  // namespace

Var Decoder::block(Tape& tape, int64_t index, Var x, const Pass& pass) const {
  const Block& b = blocks_[static_cast<size_t>(index)];
  if (tape.tracing()) tape.set_scope("blocks." + std::to_string(index) + ".");
  if (config_.norm_place == "pre") {
    x = tape.name("contextual", add(tape, x, attend(tape, index, norm(tape, b.attention_norm, x), pass)));
    return tape.name("output", add(tape, x, feed_forward(tape, b, norm(tape, b.mlp_norm, x))));
  }
  x = add(tape, x, attend(tape, index, x, pass));
  x = tape.name("contextual", norm(tape, b.attention_norm, x));
  x = add(tape, x, feed_forward(tape, b, x));
  return tape.name("output", norm(tape, b.mlp_norm, x));
}

Var Decoder::attend(Tape& tape, int64_t index, Var x, const Pass& pass) const {
  const Block& b = blocks_[static_cast<size_t>(index)];
  Var q = apply(tape, b.q, x), k = apply(tape, b.k, x), v = apply(tape, b.v, x);
  if (config_.position == "rotary") {
    RotaryOptions turn{config_.heads, config_.rope_theta, config_.rope_pairing == "interleaved", pass.start,
                       pass.places};
    q = rotary(tape, q, turn);
    turn.heads = kv_heads_;
    k = rotary(tape, k, turn);
  }
  if (config_.qk_norm) {
    q = unit_heads(tape, q, config_.heads);
    k = unit_heads(tape, k, kv_heads_);
  }
  tape.name("Q", q), tape.name("K", k), tape.name("V", v);
  AttentionOptions options{.heads = config_.heads, .kv_heads = kv_heads_};
  options.causal = config_.mask == "causal";
  options.lengths = pass.lengths;
  options.dropout = config_.dropout;
  const Var messages = pass.cache == nullptr
                           ? attention(tape, q, k, v, options)
                           : attention(tape, q, pass.cache->append(index, k.value(), v.value()), options);
  const Var updates = apply(tape, b.o, tape.name("messages", messages));
  return tape.name("updates", dropout(tape, updates, config_.dropout));
}

Var Decoder::feed_forward(Tape& tape, const Block& b, Var x) const {
  const Var up = apply(tape, b.up, x);
  const Var hidden = b.gate.weight < 0 ? activate(tape, up) : swiglu(tape, apply(tape, b.gate, x), up);
  return dropout(tape, apply(tape, b.down, tape.name("hidden", hidden)), config_.dropout);
}

Var Decoder::activate(Tape& tape, Var x) const {
  const std::string& kind = config_.activation;
  if (kind == "relu") return relu(tape, x);
  if (kind == "relu2") return relu2(tape, x);
  if (kind == "gelu") return gelu(tape, x);
  assert(kind == "gelu_tanh");
  return gelu_tanh(tape, x);
}

Var Decoder::embed(Tape& tape, const Tensor& ids, const Pass& pass) const {
  Var x = embedding(tape, weight(tape, tokens_), tape.constant(ids));
  const int64_t length = ids.shape.cols(), width = config_.d_model;
  const bool learned = config_.position == "learned";
  if (learned || config_.position == "sinusoidal") {
    const bool documents = pass.places.exists();
    const int64_t count = documents ? longest(pass.lengths) : length;
    const Var rows =
        learned ? slice_rows(tape, weight(tape, positions_), pass.start, count)
                : tape.constant(sinusoidal_rows(tape.arena(), tape.dtype(), pass.start, count, width));
    x = add(tape, x, documents ? embedding(tape, rows, tape.constant(pass.places)) : rows);
  }
  x = dropout(tape, x, config_.dropout);
  return tape.name("X", config_.embedding_norm ? norm(tape, embedding_norm_, x) : x);
}

Var Decoder::stack(Tape& tape, const Tensor& ids, const Pass& pass) const {
  Var x = embed(tape, ids, pass);
  for (int64_t i = 0; i < config_.layers; ++i)
    x = tape.result_of(x.shape(), [this, &tape, i, x, pass] { return block(tape, i, x, pass); });
  if (tape.tracing()) tape.set_scope("");
  return config_.final_norm ? tape.name("final", norm(tape, final_norm_, x)) : x;
}

Var Decoder::logits(Tape& tape, Var x, Rows rows) const {
  if (rows == Rows::last) x = last_row(tape, x);
  Var y = apply(tape, head_, x);
  if (config_.softcap > 0) y = softcap(tape, y, config_.softcap);
  return tape.name("logits", y);
}

Var Decoder::forward(Tape& tape, const Tensor& ids, Rows rows) const {
  assert(ids.shape.cols() <= config_.context);
  return logits(tape, stack(tape, ids, {}), rows);
}

CrossEntropy Decoder::loss(Tape& tape, const Batch& batch, Reduce reduce) const {
  Pass pass;
  pass.lengths = batch.lengths;
  if (batch.lengths.exists()) pass.places = places_of(tape.arena(), batch.lengths, batch.ids.count());
  const Var x = stack(tape, batch.ids, pass);
  const Var targets = tape.constant(batch.targets);
  if (tape.tracing()) return cross_entropy(tape, logits(tape, x, Rows::all), targets, reduce);
  return linear_cross_entropy(tape, x, weight(tape, head_.weight), weight(tape, head_.bias), targets,
                              {.reduce = reduce, .cap = config_.softcap});
}

Var Decoder::apply(Tape& tape, const Layer& layer, Var x) const {
  const Var w = weight(tape, layer.weight), bias = weight(tape, layer.bias);
  const size_t index = static_cast<size_t>(layer.weight);
  if (index >= adapters_.size() || adapters_[index].a < 0) return linear(tape, x, w, bias);
  const Adapter& adapter = adapters_[index];
  const Var whole = weight(tape, adapter.b);
  const int64_t skipped = adapter.first * config_.lora.rank * size_of(tape.dtype());
  const auto from_first = [&](void* start) {
    return start == nullptr ? nullptr : static_cast<char*>(start) + skipped;
  };
  const Var rows = tape.leaf({{w.dim(0), config_.lora.rank}, tape.dtype(), from_first(whole.value().data)},
                             from_first(whole.grad().data));
  return lora_linear(tape, x, w, bias, weight(tape, adapter.a), rows, lora_scale(config_.lora));
}

Var Decoder::norm(Tape& tape, const Norm& norm, Var x) const {
  if (config_.norm == "none") return x;
  const Var gain = weight(tape, norm.gain);
  if (config_.norm == "rms") return rms_norm(tape, x, gain, config_.norm_epsilon);
  return layer_norm(tape, x, gain, weight(tape, norm.bias), config_.norm_epsilon);
}

Var Decoder::unit_heads(Tape& tape, Var x, int64_t heads) const {
  const Shape whole = x.shape();
  const Var parts = reshape(tape, x, {whole[0], whole[1], heads, whole[2] / heads});
  return reshape(tape, rms_norm(tape, parts, Var(), config_.norm_epsilon), whole);
}

}  // namespace tril
