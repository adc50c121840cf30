#include "tril/ops/softcap.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Softcap = OpTest;

// cap 2, x = 2 atanh(½) = ln 3: y = 2 · ½ = 1 and the slope is 1 − (1/2)² = ¾. Far out y stays at ±2 and
// passes nothing back.
TEST_F(Softcap, ByHand) {
  Var x = real({4}, {std::log(3.0), 0, 1e9, -1e9});
  Var y = softcap(tape, x, 2);
  expect(y.value(), {1, 0, 2, -2});
  send_back(y, {4, 4, 4, 4});
  expect(x.grad(), {3, 4, 0, 0});
}

}  // namespace
}  // namespace tril
