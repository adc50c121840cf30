#include "tril/ops/rms_norm.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using RmsNorm = OpTest;

// x = [1, 7], ε = 0: mean square (1 + 49)/2 = 25, s = 1/5; g = [10, 5] gives y = [2, 7]. dy = [5, 5]:
// dg = dy x s = [1, 7]; k = (50·1 + 25·7)/2 = 112.5; dx = (50 − 4.5, 25 − 31.5)/5 = [9.1, −1.3].
TEST_F(RmsNorm, ByHand) {
  Var x = real({1, 2}, {1, 7}), g = real({2}, {10, 5});
  Var y = rms_norm(tape, x, g, 0);
  expect(y.value(), {2, 7});
  send_back(y, {5, 5});
  expect(g.grad(), {1, 7});
  expect(x.grad(), {9.1, -1.3});
}

// A row of zeros stays zero, with the slope 1/√ε.
TEST_F(RmsNorm, ZerosStayZero) {
  Var x = real({1, 2}, {0, 0});
  Var y = rms_norm(tape, x, Var(), 0.25);
  expect(y.value(), {0, 0});
  send_back(y, {1, 3});
  expect(x.grad(), {2, 6});
}

// The length of a row does not matter, only its direction.
TEST_F(RmsNorm, ScaleFallsOut) {
  Var small = rms_norm(tape, real({1, 2}, {3e-3, 4e-3}), Var(), 0);
  Var large = rms_norm(tape, real({1, 2}, {3e6, 4e6}), Var(), 0);
  const double root = std::sqrt(12.5);
  expect(small.value(), {3 / root, 4 / root});
  expect(large.value(), {3 / root, 4 / root});
}

}  // namespace
}  // namespace tril
