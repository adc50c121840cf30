#include "tril/ops/positions.h"

#include "tril/ops/add.h"
#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Positions = OpTest;

TEST_F(Positions, ASliceIsAViewOfItsTable) {
  Var table = real({3, 2}, {1, 2, 3, 4, 5, 6});
  Var y = slice_rows(tape, table, 1, 2);
  expect(y.value(), {3, 4, 5, 6});
  EXPECT_EQ(y.v<double>(), table.v<double>() + 2);
  Var sum = add(tape, real({1, 2, 2}, {0, 0, 0, 0}), y);
  send_back(sum, {10, 20, 30, 40});
  expect(table.grad(), {0, 0, 10, 20, 30, 40});
}

TEST_F(Positions, BeyondTheTableIsRefused) {
  Var table = real({2, 1}, {1, 2});
  EXPECT_THROW(slice_rows(tape, table, 1, 2), std::invalid_argument);
}

// D = 4: the second pair's rate is 10000^(−2/4) = 1/100.
TEST_F(Positions, SinusoidsByHand) {
  expect(sinusoidal_rows(tape.arena(), DType::f64, 0, 1, 4), {0, 1, 0, 1});
  expect(sinusoidal_rows(tape.arena(), DType::f64, 3, 1, 4),
         {std::sin(3), std::cos(3), std::sin(0.03), std::cos(0.03)});
}

}  // namespace
}  // namespace tril
