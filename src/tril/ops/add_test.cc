#include "tril/ops/add.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Add = OpTest;

TEST_F(Add, RepeatedRowCollectsTheGradientOfEveryRepeat) {
  Var a = real({2, 2}, {1, 2, 3, 4}), b = real({2}, {10, 20});
  Var y = add(tape, a, b);
  expect(y.value(), {11, 22, 13, 24});
  send_back(y, {1, 2, 3, 4});
  expect(a.grad(), {1, 2, 3, 4});
  expect(b.grad(), {1 + 3, 2 + 4});
}

TEST_F(Add, AValueAddedToItselfGetsBothGradients) {
  Var a = real({2}, {1, 2});
  Var y = add(tape, a, a);
  expect(y.value(), {2, 4});
  send_back(y, {1, 5});
  expect(a.grad(), {2, 10});
}

}  // namespace
}  // namespace tril
