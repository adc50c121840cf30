#include "tril/model/window_attention.h"

#include <cmath>

#include "tril/model/window_head.h"
#include "tril/ops/add.h"
#include "tril/ops/attention.h"
#include "tril/ops/embedding.h"
#include "tril/ops/head_linear.h"
#include "tril/ops/last_row.h"
#include "tril/ops/linear.h"
#include "tril/ops/relu.h"

namespace tril {

WindowAttention::WindowAttention(const ModelConfig& config, DType dtype) : Model(config, dtype) {
  const int64_t d = config.d_model, d_k = config.d_k == 0 ? d : config.d_k,
                d_v = config.d_v == 0 ? d : config.d_v;
  tokens_ = parameters_.add("token_embedding.weight", {config.vocab_size, d});
  positions_ = parameters_.add("position_embedding.weight", {config.context, d});
  w_q_ = parameters_.add("W_Q.weight", {d_k, d});
  w_k_ = parameters_.add("W_K.weight", {d_k, d});
  w_v_ = parameters_.add("W_V.weight", {d_v, d});
  w_o_ = parameters_.add("W_O.weight", {d, d_v});
  hidden_w_ = parameters_.add("hidden_layer.weight", {config.hidden, d});
  hidden_b_ = parameters_.add("hidden_layer.bias", {config.hidden});
  head_w_ = parameters_.add("vocab_head.weight", {config.vocab_size, config.hidden});
  head_b_ = parameters_.add("vocab_head.bias", {config.vocab_size});
  parameters_.allocate();
}

void WindowAttention::initialize(TorchGenerator& random) {
  draw_normal(random, parameters_.value(tokens_));
  zero_row(parameters_.value(tokens_), kPadId);
  draw_normal(random, parameters_.value(positions_));
  for (int matrix : {w_q_, w_k_, w_v_, w_o_}) draw_linear_weight(random, parameters_.value(matrix));
  draw_linear_weight(random, parameters_.value(hidden_w_));
  draw_linear_bias(random, parameters_.value(hidden_b_), config_.d_model);
  draw_linear_weight(random, parameters_.value(head_w_));
  draw_linear_bias(random, parameters_.value(head_b_), config_.hidden);
}

Var WindowAttention::hidden(Tape& tape, const Tensor& ids, Rows rows) const {
  const auto weight = [&](int index) { return tape.parameter(parameters_, index); };
  const Var pad = tape.constant(count_padding(tape.arena(), ids));

  Var x = embedding(tape, weight(tokens_), tape.constant(ids), kPadId);
#if defined(TRIL_BREAK_ORDER_SEEN)
  x = add(tape, x, weight(positions_));
#elif !defined(TRIL_BREAK_ORDER_LOST)
  if (!order_blind_) x = add(tape, x, weight(positions_));
#endif
  tape.name("X", x);
  const Var asking = rows == Rows::last ? last_row(tape, x) : x;
  const Var q = tape.name("Q", linear(tape, asking, weight(w_q_)));
  const Var messages = tape.name("messages", attend(tape, x, q, rows, pad));
  const Var updates = tape.name("updates", linear(tape, messages, weight(w_o_)));
  const Var contextual = tape.name("contextual", add(tape, asking, updates));
  return tape.name("hidden", relu(tape, linear(tape, contextual, weight(hidden_w_), weight(hidden_b_))));
}

Var WindowAttention::forward(Tape& tape, const Tensor& ids, Rows rows) const {
  return tape.name("logits", linear(tape, hidden(tape, ids, rows), tape.parameter(parameters_, head_w_),
                                    tape.parameter(parameters_, head_b_)));
}

CrossEntropy WindowAttention::loss(Tape& tape, const Batch& batch, Reduce reduce) const {
  if (tape.tracing()) return Model::loss(tape, batch, reduce);
  return window_loss(tape, parameters_, hidden(tape, batch.ids, Rows::last), head_w_, head_b_, batch, reduce);
}

// Where one query asks and nothing is traced, the keys' and values' matrices move to the query's side of the
// two products (ops/head_linear.h), and no key or value of the other positions is computed.
Var WindowAttention::attend(Tape& tape, Var x, Var q, Rows rows, Var pad) const {
  const Var w_k = tape.parameter(parameters_, w_k_), w_v = tape.parameter(parameters_, w_v_);
  const int64_t heads = config_.heads;
  if (rows == Rows::all || !tape.fast() || tape.tracing()) {
    const Var k = tape.name("K", linear(tape, x, w_k)), v = tape.name("V", linear(tape, x, w_v));
    return attention(tape, q, k, v, {.heads = heads}, pad);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(q.cols() / heads));
  const Var asked = head_linear(tape, q, w_k, heads, HeadMap::into);
  const Var mixed = attention(tape, asked, x, x, {.heads = heads, .kv_heads = 1, .scale = scale}, pad);
  return head_linear(tape, mixed, w_v, heads, HeadMap::out_of);
}

Tensor count_padding(Arena& arena, const Tensor& ids) {
  const int64_t batch = ids.shape.rows(), length = ids.shape.cols();
  const Tensor pad = arena.tensor({batch}, DType::i32);
  for (int64_t b = 0; b < batch; ++b) {
    const int32_t* row = ids.as<int32_t>() + b * length;
    int32_t count = 0;
    while (count < length && row[count] == kPadId) ++count;
    pad.as<int32_t>()[b] = count;
  }
  return pad;
}

}  // namespace tril
