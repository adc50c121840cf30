#include "tril/ops/matmul.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Matmul = OpTest;

// [[1, 2]]·[[3], [4]] = [[11]]; da = dy bᵀ, db = aᵀ dy.
TEST_F(Matmul, ByHand) {
  Var a = real({1, 2}, {1, 2}), b = real({2, 1}, {3, 4});
  Var y = matmul(tape, a, b);
  expect(y.value(), {11});
  send_back(y, {10});
  expect(a.grad(), {30, 40});
  expect(b.grad(), {10, 20});
}

TEST_F(Matmul, TransposedSecondGivesTheSame) {
  Var a = real({1, 2, 2}, {1, 2, 3, 4}), b = real({1, 2, 2}, {5, 6, 7, 8});
  Var bt = real({1, 2, 2}, {5, 7, 6, 8});
  Var y = matmul(tape, a, b, true), z = matmul(tape, a, bt);
  expect(y.value(), {17, 23, 39, 53});
  expect(z.value(), {17, 23, 39, 53});
}

}  // namespace
}  // namespace tril
