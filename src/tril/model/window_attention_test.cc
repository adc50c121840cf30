#include "tril/model/window_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/model/model_testing.h"

namespace tril {
namespace {

class WindowAttentionTest : public testing::TestWithParam<int64_t> {
 protected:
  std::unique_ptr<Model> model = make_model(small_config("window_attention", GetParam()), DType::f64);
  std::vector<int32_t> ids = {1, 4, 7, 2, 8, 0, 0, 1, 5, 3, 0, 0, 0, 0, 1};
  std::vector<int32_t> targets = {3, 6, 2};
  void SetUp() override {
    TorchGenerator random(11);
    model->initialize(random);
  }
  std::vector<double> logits(Rows rows, std::vector<int32_t> of) {
    Tape tape({Engine::reference, DType::f64, false});
    Var y = model->forward(tape, id_tensor(of, {3, 5}), rows);
    return {y.v<double>(), y.v<double>() + y.count()};
  }
};

INSTANTIATE_TEST_SUITE_P(Heads, WindowAttentionTest, testing::Values(1, 2, 3));

TEST_P(WindowAttentionTest, LastQueryEqualsTheLastRowOfAll) {
  const std::vector<double> last = logits(Rows::last, ids), all = logits(Rows::all, ids);
  ASSERT_EQ(last.size(), 3u * 9);
  ASSERT_EQ(all.size(), 3u * 5 * 9);
  for (size_t b = 0; b < 3; ++b)
    for (size_t v = 0; v < 9; ++v) EXPECT_NEAR(last[b * 9 + v], all[(b * 5 + 4) * 9 + v], 1e-12);
}

TEST_P(WindowAttentionTest, EarlierRowsDoNotSeeLaterIds) {
  std::vector<int32_t> changed = ids;
  changed[3] = 6, changed[4] = 1;
  const std::vector<double> a = logits(Rows::all, ids), b = logits(Rows::all, changed);
  for (size_t i = 0; i < 3 * 9; ++i) EXPECT_EQ(a[i], b[i]);
  EXPECT_NE(a[4 * 9], b[4 * 9]);
}

TEST_P(WindowAttentionTest, GradientsEqualDifferences) {
  expect_gradients(*model, {id_tensor(ids, {3, 5}), id_tensor(targets, {3})});
}

// The fast engine moves W_K and W_V to the query's side and takes the loss at the head; the reference
// computes every key, value and logit.
TEST_P(WindowAttentionTest, FastLossAndGradientsEqualTheReference) {
  const ModelConfig config = model->config();
  TorchGenerator random(7), again(7);
  const auto fast = make_model(config, DType::f32), plain = make_model(config, DType::f32);
  fast->initialize(random), plain->initialize(again);
  Tape quick({Engine::fast, DType::f32}), slow({Engine::reference, DType::f32});
  const Batch batch{id_tensor(ids, {3, 5}), id_tensor(targets, {3})};
  const CrossEntropy a = fast->loss(quick, batch, Reduce::mean), b = plain->loss(slow, batch, Reduce::mean);
  EXPECT_NEAR(a.loss.value().at(0), b.loss.value().at(0), 1e-6);
  quick.backward(a.loss), slow.backward(b.loss);
  const Tensor got = fast->parameters().flat_grads(), expected = plain->parameters().flat_grads();
  for (int64_t i = 0; i < got.count(); ++i) EXPECT_NEAR(got.at(i), expected.at(i), 1e-6) << i;
}

TEST_P(WindowAttentionTest, ThePaddingRowStaysZero) {
  Tape tape({Engine::reference, DType::f64});
  tape.backward(model->loss(tape, {id_tensor(ids, {3, 5}), id_tensor(targets, {3})}, Reduce::mean).loss);
  for (int64_t d = 0; d < 6; ++d) {
    EXPECT_EQ(model->parameters().value(0).at(d), 0);
    EXPECT_EQ(model->parameters().grad(0).at(d), 0);
  }
}

TEST_P(WindowAttentionTest, WithoutPositionsAttentionIsBlindToOrder) {
  auto& attention = static_cast<WindowAttention&>(*model);
  std::vector<int32_t> swapped = ids;
  std::swap(swapped[0], swapped[2]);
  attention.set_order_blind(true);
  const std::vector<double> a = logits(Rows::last, ids), b = logits(Rows::last, swapped);
  for (size_t v = 0; v < 9; ++v) EXPECT_NEAR(a[v], b[v], 1e-12);
  attention.set_order_blind(false);
  EXPECT_GT(std::fabs(logits(Rows::last, ids)[0] - logits(Rows::last, swapped)[0]), 1e-9);
}

TEST_P(WindowAttentionTest, NamesOfATrace) {
  Tape tape({Engine::reference, DType::f64, false, true});
  model->forward(tape, id_tensor(ids, {3, 5}), Rows::all);
  std::vector<std::string> names;
  for (const auto& [name, value] : tape.named()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"X", "Q", "K", "V", "scores", "masked_scores", "weights",
                                             "messages", "updates", "contextual", "hidden", "logits"}));
}

TEST(WindowAttention, SmokePresetHasItsParameterCount) {
  ModelConfig c;
  c.vocab_size = 1500;
  EXPECT_EQ(make_model(c, DType::f32)->parameters().count(), 331132);
}

TEST(WindowAttention, PaddingIsCountedFromTheLeft) {
  Arena arena;
  std::vector<int32_t> ids = {0, 0, 5, 1, 0, 2, 0, 0, 0};
  const Tensor pad = count_padding(arena, id_tensor(ids, {3, 3}));
  EXPECT_EQ(pad.at(0), 2);
  EXPECT_EQ(pad.at(1), 0);
  EXPECT_EQ(pad.at(2), 3);
}

}  // namespace
}  // namespace tril
