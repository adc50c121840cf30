// For tests of models: a small configuration of each family, ids, and the gradient check of every parameter.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tril/autograd/gradient_check.h"
#include "tril/model/registry.h"

namespace tril {

inline ModelConfig small_config(const std::string& family, int64_t heads = 1) {
  ModelConfig c;
  c.family = family;
  c.d_model = 6;
  c.heads = heads;
  c.hidden = 7;
  c.context = 5;
  c.vocab_size = 9;
  return c;
}

inline Tensor id_tensor(std::vector<int32_t>& ids, Shape shape) {
  EXPECT_EQ(static_cast<int64_t>(ids.size()), shape.count());
  return {shape, DType::i32, ids.data()};
}

/// Central differences in double for every entry of every parameter. The kinks of ReLU are met by chance at
/// most; an entry that crosses one shows as an error of the order of h, so the seed is one that crosses none.
inline void expect_gradients(Model& model, const Batch& batch, double limit = 1e-6) {
  Parameters& p = model.parameters();
  Tape tape({Engine::reference, DType::f64});
  p.zero_grads();
  tape.backward(model.loss(tape, batch, Reduce::mean).loss);
  const auto loss = [&] {
    tape.reset();
    return model.loss(tape, batch, Reduce::mean).loss.value().at(0);
  };
  for (int i = 0; i < p.size(); ++i) {
    // The padding row is held at zero by design and has no gradient to compare.
    std::vector<int64_t> entries;
    const int64_t held =
        p.info(i).name == "token_embedding.weight" && model.one_target() ? p.value(i).shape.cols() : 0;
    for (int64_t n = held; n < p.value(i).count(); ++n) entries.push_back(n);
    GradientCheckOptions options;
    options.entries = entries;
    const GradientCheck check = check_gradient(loss, p.value(i), p.grad(i), options);
    EXPECT_LT(check.relative(), limit) << p.info(i).name << " at " << check.worst_at;
  }
}

}  // namespace tril
