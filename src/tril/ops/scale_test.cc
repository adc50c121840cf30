#include "tril/ops/scale.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Scale = OpTest;

TEST_F(Scale, ByHand) {
  Var x = real({2}, {3, -4});
  Var y = scale(tape, x, 0.5);
  expect(y.value(), {1.5, -2});
  send_back(y, {10, 20});
  expect(x.grad(), {5, 10});
}

}  // namespace
}  // namespace tril
