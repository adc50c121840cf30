#include "tril/train/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/parity/numbers.h"

namespace tril {
namespace {

void fill(const Tensor& out, const nlohmann::json& numbers) {
  for (int64_t i = 0; i < out.count(); ++i) {
    const double value = numbers.at(static_cast<size_t>(i)).get<double>();
    with_real(out.dtype,
              [&](auto zero) { out.as<decltype(zero)>()[i] = static_cast<decltype(zero)>(value); });
  }
}

std::vector<double> numbers_of(const Tensor& t) {
  std::vector<double> out;
  for (int64_t i = 0; i < t.count(); ++i) out.push_back(t.at(i));
  return out;
}

// 20 steps of PyTorch's own Adam and AdamW on stored gradients: weights after 1, 2 and 20 steps, norms, both
// moments.
TEST(Optimizer, FollowsPyTorch) {
  const nlohmann::json stored = parity::load("optimizer");
  const std::pair<Engine, DType> engines[] = {
      {Engine::fast, DType::f32}, {Engine::reference, DType::f32}, {Engine::reference, DType::f64}};
  for (const auto& [engine, dtype] : engines) {
    for (const nlohmann::json& c : stored.at("cases")) {
      Parameters p(dtype);
      for (const char* name : {"matrix", "vector"}) {
        const auto shape = stored.at("start").at(name).at("shape").get<std::vector<int64_t>>();
        p.add(name, shape.size() == 2 ? Shape{shape[0], shape[1]} : Shape{shape[0]});
      }
      p.allocate();
      for (int i = 0; i < 2; ++i) fill(p.value(i), stored.at("start").at(p.info(i).name).at("data"));
      TrainSettings s;
      s.optimizer = c.at("optimizer").get<std::string>();
      s.beta1 = c.at("beta1"), s.beta2 = c.at("beta2"), s.epsilon = c.at("epsilon");
      s.weight_decay = c.at("weight_decay"), s.clip = c.at("clip");
      Optimizer optimizer(p, s, engine);
      int step = 0;
      for (const nlohmann::json& gradients : stored.at("gradients")) {
        ++step;
        for (int i = 0; i < 2; ++i) fill(p.grad(i), gradients.at(p.info(i).name));
        const double norm = optimizer.gradient_norm();
        EXPECT_NEAR(norm, c.at("norms").at(static_cast<size_t>(step - 1)).get<double>(), 1e-5 * (1 + norm));
        optimizer.update(step, c.at("learning_rate"), norm);
        if (!c.at("after").contains(std::to_string(step))) continue;
        for (int i = 0; i < 2; ++i) {
          const auto want =
              c.at("after").at(std::to_string(step)).at(p.info(i).name).get<std::vector<double>>();
          EXPECT_LT(parity::largest_difference(numbers_of(p.value(i)), want), 1e-6)
              << c.at("optimizer") << " step " << step << ", " << name_of(dtype)
              << (engine == Engine::fast ? " fast" : " reference");
        }
      }
    }
  }
}

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
