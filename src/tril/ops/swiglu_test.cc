#include "tril/ops/swiglu.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Swiglu = OpTest;

// gate = ln 3: σ = 3/4, s = ¾ ln 3. With up = 8: y = 6 ln 3; dup = dy ¾ ln 3; dgate = dy · 8 · ¾ (1 + ¼ ln
// 3).
TEST_F(Swiglu, ByHand) {
  const double log3 = std::log(3.0);
  Var gate = real({2}, {log3, 0}), up = real({2}, {8, 5});
  Var y = swiglu(tape, gate, up);
  expect(y.value(), {6 * log3, 0});
  send_back(y, {2, 2});
  expect(gate.grad(), {12 * (1 + log3 / 4), 2 * 5 * 0.5});
  expect(up.grad(), {1.5 * log3, 0});
}

}  // namespace
}  // namespace tril
