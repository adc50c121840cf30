#include "tril/ops/linear.h"

#include "tril/ops/op_testing.h"
#include "tril/ops/relu.h"

namespace tril {
namespace {

using Linear = OpTest;

// x = [1, 2], W = [[3, 4], [5, 6]], b = [10, 20]: y = [1·3 + 2·4 + 10, 1·5 + 2·6 + 20] = [21, 37].
// With dy = [1, 2]: dx = [1·3 + 2·5, 1·4 + 2·6] = [13, 16]; dW = dyᵀ x = [[1, 2], [2, 4]]; db = dy.
TEST_F(Linear, ByHand) {
  Var x = real({1, 2}, {1, 2}), w = real({2, 2}, {3, 4, 5, 6}), b = real({2}, {10, 20});
  Var y = linear(tape, x, w, b);
  expect(y.value(), {21, 37});
  send_back(y, {1, 2});
  expect(x.grad(), {13, 16});
  expect(w.grad(), {1, 2, 2, 4});
  expect(b.grad(), {1, 2});
}

// One matrix used twice (a tied head): its gradient is the sum of both uses.
TEST_F(Linear, AWeightUsedTwiceGetsTheSum) {
  Var x = real({1, 1}, {3}), w = real({1, 1}, {2});
  Var y = linear(tape, linear(tape, x, w), w);  // y = w² x, dy/dw = 2 w x = 12
  expect(y.value(), {12});
  send_back(y, {1});
  expect(w.grad(), {12});
}

// One value as rows and as weights, y = h hᵀ, with h = relu(x): the gradient is the sum of both uses.
// dy = [[1, 0], [0, 0]] asks for y₀₀ = h₀₀² + h₀₁²: dh = [[2, 4], [0, 0]].
TEST_F(Linear, RowsThatAreTheWeightsGetTheSum) {
  Tape fast;
  std::vector<float> x = {1, 2, 3, 4}, dx(4, 0.0f);
  const Var h = relu(fast, fast.leaf({{2, 2}, DType::f32, x.data()}, dx.data()));
  const Var y = linear(fast, h, h);
  expect(y.value(), {5, 11, 11, 25});
  y.g<float>()[0] = 1;
  fast.backward(fast.make({}, true), 0);
  EXPECT_EQ(dx, (std::vector<float>{2, 4, 0, 0}));
}

}  // namespace
}  // namespace tril
