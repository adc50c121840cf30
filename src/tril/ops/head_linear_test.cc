#include "tril/ops/head_linear.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using HeadLinear = OpTest;

// Two heads of one number, each with a row of its own: [2, 3] with [[1, 10], [100, 1000]] is [2·1, 2·10,
// 3·100, 3·1000].
TEST_F(HeadLinear, IntoTheHeadsByHand) {
  Var x = real({1, 2}, {2, 3}), w = real({2, 2}, {1, 10, 100, 1000});
  Var y = head_linear(tape, x, w, 2, HeadMap::into);
  expect(y.value(), {2, 20, 300, 3000});
  send_back(y, {1, 2, 3, 4});
  expect(x.grad(), {1 + 2 * 10, 3 * 100 + 4 * 1000});
  expect(w.grad(), {2, 4, 9, 12});
}

// The same rows asked the other way: head 0 gives [1, 2]·[1, 10], head 1 gives [3, 4]·[100, 1000].
TEST_F(HeadLinear, OutOfTheHeadsByHand) {
  Var x = real({1, 4}, {1, 2, 3, 4}), w = real({2, 2}, {1, 10, 100, 1000});
  Var y = head_linear(tape, x, w, 2, HeadMap::out_of);
  expect(y.value(), {21, 4300});
  send_back(y, {5, 7});
  expect(x.grad(), {5, 50, 700, 7000});
  expect(w.grad(), {5, 10, 21, 28});
}

}  // namespace
}  // namespace tril
