#include "tril/ops/last_row.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using LastRow = OpTest;

TEST_F(LastRow, OnlyTheLastPositionIsReadAndGetsAGradient) {
  Var x = real({2, 2, 1}, {1, 2, 3, 4});
  Var y = last_row(tape, x);
  EXPECT_EQ(y.shape(), (Shape{2, 1, 1}));
  expect(y.value(), {2, 4});
  send_back(y, {5, 6});
  expect(x.grad(), {0, 5, 0, 6});
}

}  // namespace
}  // namespace tril
