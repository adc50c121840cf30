#include "tril/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril {
namespace {

// √(3² + 4²) = 5; clip 1 scales by 1/(5 + 1e-6).
TEST(Optimizer, NormAndDecayOfMatricesAlone) {
  for (Engine engine : {Engine::fast, Engine::reference}) {
    Parameters p;
    p.add("matrix", {1, 2});
    p.add("vector", {1});
    p.allocate();
    p.grad(0).as<float>()[0] = 3, p.grad(1).as<float>()[0] = 4;
    p.value(0).as<float>()[1] = 1, p.value(1).as<float>()[0] = 1;
    TrainSettings s;
    s.weight_decay = 0.5, s.decay = "matrices";
    Optimizer optimizer(p, s, engine);
    EXPECT_DOUBLE_EQ(optimizer.gradient_norm(), 5);
    p.zero_grads();
    optimizer.update(1, 0.1, 0);
    EXPECT_FLOAT_EQ(p.value(0).as<float>()[1], 0.95f);
    EXPECT_EQ(p.value(1).as<float>()[0], 1);
  }
}

TEST(Optimizer, FrozenParametersStayBitForBit) {
  Parameters p;
  p.add("a", {3});
  p.add("b", {3});
  p.allocate();
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) p.value(i).as<float>()[k] = p.grad(i).as<float>()[k] = 1;
  p.set_frozen(0, true);
  TrainSettings s;
  s.weight_decay = 0.5;
  Optimizer optimizer(p, s, Engine::fast);
  optimizer.update(1, 0.1, 1);
  EXPECT_EQ(p.value(0).at(0), 1);
  EXPECT_NE(p.value(1).at(0), 1);
}

TEST(Optimizer, NotANumberIsInTheNorm) {
  Parameters p;
  p.add("a", {3});
  p.allocate();
  p.grad(0).as<float>()[1] = std::nanf("");
  EXPECT_TRUE(std::isnan(Optimizer(p, {}, Engine::fast).gradient_norm()));
}

}  // namespace
}  // namespace tril
