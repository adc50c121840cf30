#include "tril/model/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/model/model_testing.h"

namespace tril {
namespace {

TEST(Model, BothTypesAreDrawnFromTheSameFloats) {
  for (const char* family : {"window_attention", "window_mlp"}) {
    std::unique_ptr<Model> f = make_model(small_config(family), DType::f32),
                           d = make_model(small_config(family), DType::f64);
    TorchGenerator a(3), b(3);
    f->initialize(a);
    d->initialize(b);
    for (int i = 0; i < f->parameters().size(); ++i)
      for (int64_t n = 0; n < f->parameters().value(i).count(); ++n)
        ASSERT_EQ(f->parameters().value(i).at(n), d->parameters().value(i).at(n));
  }
}

// The mean over four examples is the mean of the two means of two: what accumulation relies on.
TEST(Model, LossOfABatchIsTheMeanOfItsHalves) {
  std::unique_ptr<Model> model = make_model(small_config("window_attention"), DType::f64);
  TorchGenerator random(5);
  model->initialize(random);
  std::vector<int32_t> ids = {1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 0, 0, 1, 7, 8, 6, 6, 6, 6, 6},
                       targets = {1, 2, 3, 4};
  const auto loss = [&](int64_t from, int64_t count) {
    Tape tape({Engine::reference, DType::f64});
    const Batch batch{{{count, 5}, DType::i32, ids.data() + from * 5},
                      {{count}, DType::i32, targets.data() + from}};
    return model->loss(tape, batch, Reduce::mean).loss.value().at(0);
  };
  EXPECT_NEAR(loss(0, 4), (loss(0, 2) + loss(2, 2)) / 2, 1e-14);
}

// The fast engine against the definition in double, on a whole model.
TEST(Model, FastEqualsReference) {
  for (const char* family : {"window_attention", "window_mlp"}) {
    std::unique_ptr<Model> f = make_model(small_config(family, 2), DType::f32),
                           d = make_model(small_config(family, 2), DType::f64);
    TorchGenerator a(3), b(3);
    f->initialize(a);
    d->initialize(b);
    std::vector<int32_t> ids = {1, 4, 7, 2, 8, 0, 0, 1, 5, 3}, targets = {3, 6};
    const Batch batch{id_tensor(ids, {2, 5}), id_tensor(targets, {2})};
    Tape fast, plain({Engine::reference, DType::f64});
    Var lf = f->loss(fast, batch, Reduce::mean).loss, ld = d->loss(plain, batch, Reduce::mean).loss;
    EXPECT_NEAR(lf.value().at(0), ld.value().at(0), 1e-5);
    fast.backward(lf);
    plain.backward(ld);
    for (int i = 0; i < f->parameters().size(); ++i)
      for (int64_t n = 0; n < f->parameters().grad(i).count(); ++n)
        ASSERT_NEAR(f->parameters().grad(i).at(n), d->parameters().grad(i).at(n), 1e-5)
            << f->parameters().info(i).name;
  }
}

}  // namespace
}  // namespace tril
