#include "tril/ops/mask.h"

#include <limits>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Mask = OpTest;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

TEST_F(Mask, LowerTriangle) {
  Var x = real({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  Var y = mask(tape, x);
  expect(y.value(), {1, kHidden, kHidden, 4, 5, kHidden, 7, 8, 9});
  send_back(y, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  expect(x.grad(), {1, 0, 0, 1, 1, 0, 1, 1, 1});
}

// Two padded positions at the left: the real query sees real keys only; padded queries keep their causal
// prefix.
TEST_F(Mask, PaddedKeysAreHiddenFromRealQueries) {
  Var x = real({1, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1});
  expect(mask(tape, x, ids({1}, {2})).value(), {1, kHidden, kHidden, 1, 1, kHidden, kHidden, kHidden, 1});
}

TEST_F(Mask, QueriesAreTheLastPositions) {
  Var x = real({1, 2, 4}, {1, 1, 1, 1, 1, 1, 1, 1});
  expect(mask(tape, x).value(), {1, 1, 1, kHidden, 1, 1, 1, 1});
}

TEST_F(Mask, WithoutCausalityItIsAnEncoder) {
  Var x = real({1, 2, 2}, {1, 2, 3, 4});
  expect(mask(tape, x, {}, false).value(), {1, 2, 3, 4});
}

}  // namespace
}  // namespace tril
