#include "tril/ops/softmax.h"

#include <cmath>
#include <limits>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Softmax = OpTest;

// x = [0, ln 3]: weights [1/4, 3/4]. With dy = [1, 0]: s = 1/4, dx = [1/4·3/4, −3/4·1/4].
TEST_F(Softmax, ByHand) {
  Var x = real({1, 2}, {0, std::log(3.0)});
  Var y = softmax(tape, x);
  expect(y.value(), {0.25, 0.75});
  send_back(y, {1, 0});
  expect(x.grad(), {0.1875, -0.1875});
}

TEST_F(Softmax, RowsOfTwoAxesAreNotMixedUp) {
  Var y = softmax(tape, real({2, 3}, {0, 0, 0, 0, 0, std::log(2.0)}));
  expect(y.value(), {1 / 3.0, 1 / 3.0, 1 / 3.0, 0.25, 0.25, 0.5});
}

// Case 38: nothing to see gives zeros, and zeros go back.
TEST_F(Softmax, HugeScoresAndHiddenPlaces) {
  const double hidden = -std::numeric_limits<double>::infinity();
  Var x = real({3, 2}, {1e4, 1e4, -1e4, hidden, hidden, hidden});
  Var y = softmax(tape, x);
  expect(y.value(), {0.5, 0.5, 1, 0, 0, 0});  // a row with nothing to see gives zeros
  send_back(y, {1, 2, 1, 2, 1, 2});
  expect(x.grad(), {-0.25, 0.25, 0, 0, 0, 0});
}

TEST_F(Softmax, FastAgreesOnHiddenRows) {
  Tape fast;
  const Tensor x = fast.arena().tensor({2, 40}, DType::f32);
  for (float& v : x.span<float>()) v = -std::numeric_limits<float>::infinity();
  x.as<float>()[45] = 1e4f;
  Var y = softmax(fast, fast.constant(x));
  for (int64_t i = 0; i < 80; ++i) EXPECT_EQ(y.value().at(i), i == 45 ? 1 : 0) << i;
}

}  // namespace
}  // namespace tril
