#include "tril/model/window_mlp.h"

#include "tril/model/window_head.h"
#include "tril/ops/concat.h"
#include "tril/ops/embedding.h"
#include "tril/ops/linear.h"
#include "tril/ops/relu.h"

namespace tril {

WindowMlp::WindowMlp(const ModelConfig& config, DType dtype) : Model(config, dtype) {
  tokens_ = parameters_.add("token_embedding.weight", {config.vocab_size, config.d_model});
  hidden_w_ = parameters_.add("hidden_layer.weight", {config.hidden, config.context * config.d_model});
  hidden_b_ = parameters_.add("hidden_layer.bias", {config.hidden});
  head_w_ = parameters_.add("vocab_head.weight", {config.vocab_size, config.hidden});
  head_b_ = parameters_.add("vocab_head.bias", {config.vocab_size});
  parameters_.allocate();
}

void WindowMlp::initialize(TorchGenerator& random) {
  draw_normal(random, parameters_.value(tokens_));
  zero_row(parameters_.value(tokens_), kPadId);
  draw_linear_weight(random, parameters_.value(hidden_w_));
  draw_linear_bias(random, parameters_.value(hidden_b_), config_.context * config_.d_model);
  draw_linear_weight(random, parameters_.value(head_w_));
  draw_linear_bias(random, parameters_.value(head_b_), config_.hidden);
}

Var WindowMlp::hidden(Tape& tape, const Tensor& ids) const {
  const auto weight = [&](int index) { return tape.parameter(parameters_, index); };
  const Var x = tape.name("X", embedding(tape, weight(tokens_), tape.constant(ids), kPadId));
  const Var side_by_side = concat(tape, x);
  return tape.name("hidden", relu(tape, linear(tape, side_by_side, weight(hidden_w_), weight(hidden_b_))));
}

Var WindowMlp::forward(Tape& tape, const Tensor& ids, Rows /*rows*/) const {
  const Var logits = linear(tape, hidden(tape, ids), tape.parameter(parameters_, head_w_),
                            tape.parameter(parameters_, head_b_));
  return tape.name("logits", reshape(tape, logits, {ids.shape[0], 1, config_.vocab_size}));
}

CrossEntropy WindowMlp::loss(Tape& tape, const Batch& batch, Reduce reduce) const {
  if (tape.tracing()) return Model::loss(tape, batch, reduce);
  return window_loss(tape, parameters_, hidden(tape, batch.ids), head_w_, head_b_, batch, reduce);
}

}  // namespace tril
