#include "tril/ops/relu2.h"

#include <cmath>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Relu2 = OpTest;

// 3² = 9 with slope 2 · 3; nothing at and below 0.
TEST_F(Relu2, ByHand) {
  Var x = real({3}, {-2, 0, 3});
  Var y = relu2(tape, x);
  expect(y.value(), {0, 0, 9});
  send_back(y, {5, 5, 5});
  expect(x.grad(), {0, 0, 30});
}

TEST_F(Relu2, NotANumberStaysOne) {
  EXPECT_TRUE(std::isnan(relu2(tape, real({1}, {std::nan("")})).value().at(0)));
}

}  // namespace
}  // namespace tril
