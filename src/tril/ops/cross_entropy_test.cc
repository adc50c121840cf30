#include "tril/ops/cross_entropy.h"

#include <cmath>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using CrossEntropyOp = OpTest;

// Equal logits over 4 ids: loss ln 4; gradient (1/4 − [c = t]).
TEST_F(CrossEntropyOp, UniformByHand) {
  Var x = real({1, 4}, {7, 7, 7, 7});
  const CrossEntropy out = cross_entropy(tape, x, ids({1}, {2}));
  EXPECT_NEAR(out.loss.value().at(0), std::log(4.0), 1e-15);
  tape.backward(out.loss);
  expect(x.grad(), {0.25, 0.25, -0.75, 0.25});
}

TEST_F(CrossEntropyOp, HugeLogitsStayFinite) {
  Var x = real({1, 3}, {1e4, -1e4, 0});
  const CrossEntropy out = cross_entropy(tape, x, ids({1}, {1}));
  EXPECT_EQ(out.loss.value().at(0), 2e4);
  tape.backward(out.loss);
  expect(x.grad(), {1, -1, 0});
}

// Rows 0 and 2 count: the mean is over two, and row 1 gets no gradient.
TEST_F(CrossEntropyOp, IgnoredRowsAreInNeitherSumNorMean) {
  Var x = real({3, 2}, {0, 0, 9, -9, 0, 0});
  const CrossEntropy out = cross_entropy(tape, x, ids({3}, {0, -1, 1}));
  EXPECT_EQ(out.counted, 2);
  EXPECT_NEAR(out.loss.value().at(0), std::log(2.0), 1e-15);
  tape.backward(out.loss);
  expect(x.grad(), {-0.25, 0.25, 0, 0, 0.25, -0.25});
}

// Case 39: a batch of padding alone is 0 of 0, with no gradient; next to normal rows (above) it is in no
// mean.
TEST_F(CrossEntropyOp, NothingCountedIsZeroOfZero) {
  Var x = real({2, 2}, {1, 2, 3, 4});
  const CrossEntropy out = cross_entropy(tape, x, ids({2}, {-1, -100}));
  EXPECT_EQ(out.counted, 0);
  EXPECT_EQ(out.loss.value().at(0), 0);
  tape.backward(out.loss);
  expect(x.grad(), {0, 0, 0, 0});
}

TEST_F(CrossEntropyOp, OneSymbolIsCertain) {
  Var x = real({2, 1}, {3, -4});
  const CrossEntropy out = cross_entropy(tape, x, ids({2}, {0, 0}));
  EXPECT_EQ(out.loss.value().at(0), 0);
  tape.backward(out.loss);
  expect(x.grad(), {0, 0});
}

}  // namespace
}  // namespace tril
