#include "tril/ops/embedding.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Embedding = OpTest;

TEST_F(Embedding, RowsAreLookedUpAndRepeatedIdsCollectTheirGradients) {
  Var table = real({3, 2}, {1, 2, 3, 4, 5, 6});
  Var y = embedding(tape, table, ids({1, 3}, {2, 0, 2}));
  EXPECT_EQ(y.shape(), (Shape{1, 3, 2}));
  expect(y.value(), {5, 6, 1, 2, 5, 6});
  send_back(y, {1, 2, 3, 4, 10, 20});
  expect(table.grad(), {3, 4, 0, 0, 11, 22});
}

TEST_F(Embedding, ThePaddingRowGetsNoGradient) {
  Var table = real({2, 2}, {0, 0, 3, 4});
  Var y = embedding(tape, table, ids({2}, {0, 1}), 0);
  send_back(y, {7, 7, 1, 2});
  expect(table.grad(), {0, 0, 1, 2});
}

}  // namespace
}  // namespace tril
