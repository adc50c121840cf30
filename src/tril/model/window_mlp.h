// window_mlp: the baseline. The embeddings of a window's slots side by side, a ReLU layer, the vocabulary
// head; no attention, so each slot has weights of its own (Bengio et al. 2003).
//   X = E[ids];   hidden = relu(concat(X) W_hᵀ + b_h);   logits = hidden W_vᵀ + b_v
// Names of the values under tracing: X hidden logits.
#pragma once
#include "tril/model/model.h"

namespace tril {

class WindowMlp : public Model {
 public:
  /// vocab_size must be set.
  WindowMlp(const ModelConfig& config, DType dtype);

  using Model::initialize;
  void initialize(TorchGenerator& random) override;
  /// Logits [B, 1, V]: the window has one answer, so Rows::all gives the same.
  Var forward(Tape& tape, const Tensor& ids, Rows rows) const override;
  CrossEntropy loss(Tape& tape, const Batch& batch, Reduce reduce) const override;
  bool one_target() const override { return true; }

 private:
  Var hidden(Tape& tape, const Tensor& ids) const;

  int tokens_, hidden_w_, hidden_b_, head_w_, head_b_;
};

}  // namespace tril
