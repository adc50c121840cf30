#include "tril/model/window_mlp.h"

#include <gtest/gtest.h>

#include "tril/model/model_testing.h"

namespace tril {
namespace {

TEST(WindowMlp, GradientsEqualDifferences) {
  std::unique_ptr<Model> model = make_model(small_config("window_mlp"), DType::f64);
  TorchGenerator random(11);
  model->initialize(random);
  std::vector<int32_t> ids = {1, 4, 7, 2, 8, 0, 0, 1, 5, 3}, targets = {3, 6};
  expect_gradients(*model, {id_tensor(ids, {2, 5}), id_tensor(targets, {2})});
}

// 1,500·32 + 128·(8·32) + 128 + 1,500·128 + 1,500 = 274,396
TEST(WindowMlp, PresetHasItsParameterCount) {
  ModelConfig c;
  c.family = "window_mlp";
  c.d_model = 32, c.hidden = 128, c.context = 8, c.vocab_size = 1500;
  EXPECT_EQ(make_model(c, DType::f32)->parameters().count(), 274396);
}

TEST(WindowMlp, EachSlotHasWeightsOfItsOwn) {
  std::unique_ptr<Model> model = make_model(small_config("window_mlp"), DType::f64);
  TorchGenerator random(11);
  model->initialize(random);
  const auto first_logit = [&](std::vector<int32_t> ids) {
    Tape tape({Engine::reference, DType::f64, false});
    return model->forward(tape, id_tensor(ids, {1, 5}), Rows::last).value().at(0);
  };
  EXPECT_NE(first_logit({1, 2, 3, 4, 5}), first_logit({2, 1, 3, 4, 5}));
}

}  // namespace
}  // namespace tril
