#include "tril/ops/layer_norm.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using LayerNorm = OpTest;

// x = [1, 3], ε = 0: mean 2, deviation 1, h = [−1, 1]; g = [2, 3], b = [10, 20] give y = [8, 23].
// dy = [1, 0]: dg = [−1, 0], db = [1, 0]; dh = [2, 0], m1 = 1, m2 = (2 · −1)/2 = −1;
// dx = dh − m1 − h m2 = [2 − 1 − 1, 0 − 1 + 1] = [0, 0]: with two columns every row has the same h.
TEST_F(LayerNorm, ByHand) {
  Var x = real({1, 2}, {1, 3}), g = real({2}, {2, 3}), b = real({2}, {10, 20});
  Var y = layer_norm(tape, x, g, b, 0);
  expect(y.value(), {8, 23});
  send_back(y, {1, 0});
  expect(g.grad(), {-1, 0});
  expect(b.grad(), {1, 0});
  expect(x.grad(), {0, 0});
}

// x = [0, 0, 3], ε = 0: mean 1, variance (1 + 1 + 4)/3 = 2, s = 1/√2, h = [−1, −1, 2]/√2. dy = [1, 0, 0]:
// m1 = 1/3, m2 = −1/(3√2), h m2 = [1, 1, −2]/6; dx = s [1 − 1/3 − 1/6, −1/3 − 1/6, −1/3 + 1/3] = s [½, −½,
// 0].
TEST_F(LayerNorm, GradientByHand) {
  Var x = real({1, 3}, {0, 0, 3});
  const double s = std::sqrt(0.5);
  Var y = layer_norm(tape, x, Var(), Var(), 0);
  expect(y.value(), {-s, -s, 2 * s});
  send_back(y, {1, 0, 0});
  expect(x.grad(), {s / 2, -s / 2, 0});
}

// A row of equal numbers has no deviation: ε keeps it finite, and only the bias is left.
TEST_F(LayerNorm, AFlatRowIsItsBias) {
  Var x = real({1, 3}, {7, 7, 7}), g = real({3}, {1, 1, 1}), b = real({3}, {1, 2, 3});
  expect(layer_norm(tape, x, g, b).value(), {1, 2, 3});
}

// A bias without a gain (a model with norm_gain = false and bias = true).
TEST_F(LayerNorm, BiasAlone) {
  Var x = real({1, 2}, {1, 3}), b = real({2}, {10, 20});
  Var y = layer_norm(tape, x, Var(), b, 0);
  expect(y.value(), {9, 21});
  send_back(y, {1, 2});
  expect(b.grad(), {1, 2});
}

// A large mean does not eat the deviations: x = 10,000 ± 1 in float.
TEST_F(LayerNorm, LargeMeanInFloat) {
  Tape fast;
  const Tensor x = fast.arena().tensor({1, 64}, DType::f32);
  for (int i = 0; i < 64; ++i) x.as<float>()[i] = 10000.0f + (i % 2 == 0 ? 1.0f : -1.0f);
  Var y = layer_norm(fast, fast.constant(x), Var(), Var(), 0);
  for (int i = 0; i < 64; ++i) EXPECT_NEAR(y.value().at(i), i % 2 == 0 ? 1 : -1, 1e-5);
}

}  // namespace
}  // namespace tril
