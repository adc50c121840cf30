#include "tril/ops/concat.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Concat = OpTest;

TEST_F(Concat, IsTheSameMemory) {
  Var x = real({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  Var y = concat(tape, x);
  EXPECT_EQ(y.shape(), (Shape{1, 6}));
  EXPECT_EQ(y.value().data, x.value().data);
  EXPECT_EQ(y.grad().data, x.grad().data);
}

}  // namespace
}  // namespace tril
