#include "tril/ops/relu.h"

#include <cmath>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Relu = OpTest;

TEST_F(Relu, ZeroPassesNothingBack) {
  Var x = real({3}, {-2, 0, 3});
  Var y = relu(tape, x);
  expect(y.value(), {0, 0, 3});
  send_back(y, {5, 5, 5});
  expect(x.grad(), {0, 0, 5});
}

TEST_F(Relu, NotANumberStaysOne) {
  EXPECT_TRUE(std::isnan(relu(tape, real({1}, {std::nan("")})).value().at(0)));
  Tape fast;
  const Tensor x = fast.arena().zeros({40}, DType::f32);
  x.as<float>()[3] = x.as<float>()[39] = std::nanf("");
  Var y = relu(fast, fast.constant(x));
  EXPECT_TRUE(std::isnan(y.value().at(3)));
  EXPECT_TRUE(std::isnan(y.value().at(39)));
}

}  // namespace
}  // namespace tril
