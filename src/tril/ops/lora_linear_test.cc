#include "tril/ops/lora_linear.h"

#include "tril/ops/linear.h"
#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using LoraLinear = OpTest;

// x (1, 2); W (3, −1), b 0.5: 3 − 2 + 0.5 = 1.5. A (1, 1): h = 3; B (2), s = 0.5: 0.5 · 2 · 3 = 3. y = 4.5.
// Upstream 2: dh = 0.5 · 2 · 2 = 2; dA = 2 x = (2, 4); dB = 0.5 · 2 · 3 = 3; dx = 2 (3, −1) + 2 (1, 1) = (8,
// 0).
TEST_F(LoraLinear, ByHand) {
  const Var x = real({1, 2}, {1, 2}), w = real({1, 2}, {3, -1}), bias = real({1}, {0.5});
  const Var a = real({1, 2}, {1, 1}), b = real({1, 1}, {2});
  const Var y = lora_linear(tape, x, w, bias, a, b, 0.5);
  expect(y.value(), {4.5});
  send_back(y, {2});
  expect(a.grad(), {2, 4});
  expect(b.grad(), {3});
  expect(x.grad(), {8, 0});
  expect(w.grad(), {2, 4});
  expect(bias.grad(), {2});
}

// A fresh adapter, and a layer that stays: the result is linear's to the last bit, and only A and B get
// gradients.
TEST_F(LoraLinear, WithBZeroItIsLinearAndAFrozenLayerGetsNothing) {
  Tape fast;
  const auto drawn = [&](Shape shape, double of) {
    const Tensor t = fast.arena().tensor(shape, DType::f32);
    for (int64_t i = 0; i < t.count(); ++i) t.as<float>()[i] = static_cast<float>(std::sin(of * (i + 1.0)));
    return t;
  };
  const Var x = fast.constant(drawn({5, 33}, 1)), w = fast.constant(drawn({17, 33}, 2)),
            bias = fast.constant(drawn({17}, 3));
  const Tensor none = fast.arena().zeros({17, 4}, DType::f32), grad = fast.arena().zeros({17, 4}, DType::f32);
  const Tensor a_grad = fast.arena().zeros({4, 33}, DType::f32);
  const Var a = fast.leaf(drawn({4, 33}, 4), a_grad.data), b = fast.leaf(none, grad.data);
  const Var plain = linear(fast, x, w, bias), y = lora_linear(fast, x, w, bias, a, b, 2);
  for (int64_t i = 0; i < y.count(); ++i) ASSERT_EQ(y.v<float>()[i], plain.v<float>()[i]);
  ASSERT_TRUE(y.wants_grad());
  EXPECT_FALSE(plain.wants_grad());
  std::fill_n(y.g<float>(), y.count(), 1.0F);
  fast.backward(fast.make({}, true), 0);
  double largest = 0, of_a = 0;
  for (int64_t i = 0; i < grad.count(); ++i) largest = std::max(largest, std::fabs(grad.at(i)));
  for (int64_t i = 0; i < a_grad.count(); ++i) of_a = std::max(of_a, std::fabs(a_grad.at(i)));
  EXPECT_GT(largest, 0.1);
  EXPECT_EQ(of_a, 0);  // B is zero
}

}  // namespace
}  // namespace tril
