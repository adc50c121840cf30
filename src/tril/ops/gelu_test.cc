#include "tril/ops/gelu.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Gelu = OpTest;

// P(1) = 0.8413447460685429 (normal table), p(1) = e^(−1/2)/√(2π) = 0.24197072451914337; so y(1) = P(1),
// slope(1) = P(1) + p(1) = 1.0833154705876863, and by symmetry y(−1) = −(1 − P(1)), slope(−1) = 1 − P(1) −
// p(1).
TEST_F(Gelu, ByHand) {
  Var x = real({4}, {1, -1, 0, 40});
  Var y = gelu(tape, x);
  expect(y.value(), {0.8413447460685429, -0.1586552539314571, 0, 40});
  send_back(y, {1, 1, 1, 1});
  expect(x.grad(), {1.0833154705876863, -0.0833154705876863, 0.5, 1});
}

// Case 40: slopes far out are 0 and 1, a NaN stays one, and nothing is built with -ffast-math (the table
// checks the gradient itself, in every build).
TEST_F(Gelu, SlopesFarOutAndNotANumber) {
#ifdef __FAST_MATH__
  FAIL() << "built with -ffast-math";
#endif
  for (Engine engine : {Engine::reference, Engine::fast}) {
    Tape t({engine, DType::f32});
    const Tensor x = t.arena().tensor({5}, DType::f32), g = t.arena().zeros({5}, DType::f32);
    const float far[] = {-1e30f, -60, 60, 1e30f, std::nanf("")};
    std::copy(std::begin(far), std::end(far), x.as<float>());
    Var y = gelu(t, t.leaf(x, g.data));
    std::fill(y.g<float>(), y.g<float>() + 5, 1.0f);
    t.backward(t.make({}, true), 0);
    const double slopes[] = {0, 0, 1, 1};
    for (int i = 0; i < 4; ++i) EXPECT_EQ(g.at(i), slopes[i]) << i;
    EXPECT_TRUE(std::isnan(y.value().at(4)));
    EXPECT_TRUE(std::isnan(g.at(4)));
  }
}

// Far to the left the product is tiny, never NaN, also where exp underflows.
TEST_F(Gelu, FarOutIsFinite) {
  Tape fast;
  const Tensor x = fast.arena().zeros({3}, DType::f32);
  x.as<float>()[0] = -100, x.as<float>()[1] = -1e18f, x.as<float>()[2] = 1e18f;
  Var y = gelu(fast, fast.constant(x));
  EXPECT_EQ(y.value().at(0), 0);
  EXPECT_EQ(y.value().at(1), 0);
  EXPECT_EQ(y.value().at(2), static_cast<double>(1e18f));
}

}  // namespace
}  // namespace tril
