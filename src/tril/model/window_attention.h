// window_attention: the teaching model. A window of token and position rows, H causal heads without bias, the
// residual, a ReLU layer and the vocabulary head; one target for each window.
//   X = E[ids] + P;   Q = X W_Qᵀ, K = X W_Kᵀ, V = X W_Vᵀ;   messages = attention(Q, K, V)
//   contextual = X + messages W_Oᵀ;   hidden = relu(contextual W_hᵀ + b_h);   logits = hidden W_vᵀ + b_v
// A training step needs the last position's prediction alone: Q is computed for it alone, and the fast engine
// takes K and V as (Q W_K) Xᵀ and (weights X) W_Vᵀ, which are the same numbers but for rounding. Names of the
// values under tracing: X Q K V scores masked_scores weights messages updates contextual hidden logits.
#pragma once
#include "tril/model/model.h"

namespace tril {

class WindowAttention : public Model {
 public:
  /// Parameter names are those of the teaching notebook (design, section 4). vocab_size must be set.
  WindowAttention(const ModelConfig& config, DType dtype);

  using Model::initialize;
  void initialize(TorchGenerator& random) override;
  Var forward(Tape& tape, const Tensor& ids, Rows rows) const override;
  CrossEntropy loss(Tape& tape, const Batch& batch, Reduce reduce) const override;
  bool one_target() const override { return true; }

  /// Leaves the position rows out, for the check that attention alone does not see order.
  void set_order_blind(bool blind) { order_blind_ = blind; }

 private:
  Var hidden(Tape& tape, const Tensor& ids, Rows rows) const;
  Var attend(Tape& tape, Var x, Var q, Rows rows, Var pad) const;

  bool order_blind_ = false;
  int tokens_, positions_, w_q_, w_k_, w_v_, w_o_, hidden_w_, hidden_b_, head_w_, head_b_;
};

/// How many ids at the left of each row are padding. Shapes: ids [B, T] → [B].
Tensor count_padding(Arena& arena, const Tensor& ids);

}  // namespace tril
