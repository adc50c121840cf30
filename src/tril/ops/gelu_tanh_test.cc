#include "tril/ops/gelu_tanh.h"

#include <cmath>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using GeluTanh = OpTest;

// u(1) = √(2/π) · 1.044715 = 0.8335618..., tanh u = 0.682383844...; y(1) = (1 + tanh u)/2 = 0.8411919906.
TEST_F(GeluTanh, ByHand) {
  Var y = gelu_tanh(tape, real({4}, {1, -1, 0, 40}));
  expect(y.value(), {0.8411919906082768, -0.1588080093917232, 0, 40});
}

// At 0 the slope is 1/2; far to the right the map is x itself.
TEST_F(GeluTanh, Slopes) {
  Var x = real({3}, {0, 30, -30});
  send_back(gelu_tanh(tape, x), {1, 1, 1});
  expect(x.grad(), {0.5, 1, 0});
}

}  // namespace
}  // namespace tril
