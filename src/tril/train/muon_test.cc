#include "tril/train/muon.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/parity/numbers.h"
#include "tril/model/model.h"
#include "tril/train/optimizer.h"

namespace tril {
namespace {

struct Matrix {
  int64_t rows, cols;
  std::vector<double> numbers = std::vector<double>(static_cast<size_t>(rows * cols));
  double* data() { return numbers.data(); }
  double& at(int64_t r, int64_t c) { return numbers[static_cast<size_t>(r * cols + c)]; }
};

// What five rounds make of one singular value s ≤ 1: s ← 3.4445 s − 4.7750 s³ + 2.0315 s⁵.
double five_rounds(double s) {
  for (int i = 0; i < 5; ++i) s = 3.4445 * s - 4.7750 * s * s * s + 2.0315 * s * s * s * s * s;
  return s;
}

Matrix drawn(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix g{rows, cols};
  TorchGenerator random(seed);
  draw_normal(random, {{rows, cols}, DType::f64, g.data()}, 0, 1);
  return g;
}

/// Orthonormal columns, by Gram and Schmidt.
Matrix orthonormal(int64_t rows, int64_t cols, uint64_t seed) {
  Matrix q = drawn(rows, cols, seed);
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t other = 0; other < c; ++other) {
      double along = 0;
      for (int64_t r = 0; r < rows; ++r) along += q.at(r, c) * q.at(r, other);
      for (int64_t r = 0; r < rows; ++r) q.at(r, c) -= along * q.at(r, other);
    }
    double squares = 0;
    for (int64_t r = 0; r < rows; ++r) squares += q.at(r, c) * q.at(r, c);
    for (int64_t r = 0; r < rows; ++r) q.at(r, c) /= std::sqrt(squares);
  }
  return q;
}

/// U S Vᵀ
Matrix composed(Matrix u, const std::vector<double>& s, Matrix v) {
  Matrix g{u.rows, v.rows};
  for (int64_t r = 0; r < g.rows; ++r)
    for (int64_t c = 0; c < g.cols; ++c)
      for (size_t k = 0; k < s.size(); ++k)
        g.at(r, c) += u.at(r, static_cast<int64_t>(k)) * s[k] * v.at(c, static_cast<int64_t>(k));
  return g;
}

/// −ΔW of a first step at rate 1 without momentum: √max(1, R/C) X.
Matrix step_of(Matrix g) {
  Matrix w{g.rows, g.cols}, m = w, scratch = w;
  muon_step<double>({1, 0, 0, 1}, g.rows, g.cols, w.data(), g.data(), m.data(), scratch.data());
  for (double& x : w.numbers) x = -x;
  return w;
}

// One number has one singular value, which is all of the norm: s = 1, whatever the number.
TEST(Muon, ANumberBecomesItsSign) {
  for (double number : {-3.0, 1e-5, 700.0})
    EXPECT_NEAR(step_of({1, 1, {number}}).at(0, 0), std::copysign(five_rounds(1), number), 1e-12);
}

// By another way, in double: of G = U S Vᵀ the rounds make U f(S/‖S‖) Vᵀ. Square, wide, tall, of one row, of
// rank 2.
TEST(Muon, FollowsTheSingularValues) {
  for (const auto& [rows, cols, rank] :
       {std::array<int64_t, 3>{8, 8, 8}, {5, 17, 5}, {23, 4, 4}, {1, 9, 1}, {6, 7, 2}}) {
    const Matrix u = orthonormal(rows, rank, 1), v = orthonormal(cols, rank, 2);
    std::vector<double> s;
    for (int64_t k = 0; k < rank; ++k) s.push_back(7 * std::pow(0.6, static_cast<double>(k)));
    Matrix got = step_of(composed(u, s, v));
    double squares = 0;
    for (double value : s) squares += value * value;
    for (double& value : s) value = five_rounds(value / std::sqrt(squares));
    const double scale = std::sqrt(std::max(1.0, static_cast<double>(rows) / static_cast<double>(cols)));
    const Matrix want = composed(u, s, v);
    for (size_t i = 0; i < want.numbers.size(); ++i)
      ASSERT_NEAR(got.numbers[i], scale * want.numbers[i], 1e-12) << rows << " x " << cols;
  }
}

// What the coefficients were chosen for: a singular value of 1% and more of the norm comes near 1.
TEST(Muon, SingularValuesComeNearOne) {
  for (double s = 0.01; s <= 1; s += 0.001) {
    EXPECT_GT(five_rounds(s), 0.68) << s;
    EXPECT_LT(five_rounds(s), 1.14) << s;
  }
}

TEST(Muon, NoGradientMovesNothing) {
  EXPECT_EQ(step_of({3, 5}).numbers, std::vector<double>(15));
}

TEST(Muon, FastEqualsPlain) {
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{1, 1}, {3, 40}, {65, 17}, {128, 128}, {96, 384}}) {
    std::vector<Matrix> plain;
    std::vector<std::vector<float>> fast;
    for (uint64_t seed : {1, 2, 3, 4}) {
      plain.push_back(drawn(rows, cols, seed));
      fast.emplace_back(plain.back().numbers.begin(), plain.back().numbers.end());
    }
    const MuonStep step{0.1, 0.95, 0.1, 0.5};
    muon_step<double>(step, rows, cols, plain[0].data(), plain[1].data(), plain[2].data(), plain[3].data());
    muon_step_fast(step, rows, cols, fast[0].data(), fast[1].data(), fast[2].data(), fast[3].data());
    for (size_t i = 0; i < fast[0].size(); ++i) {
      ASSERT_NEAR(fast[0][i], plain[0].numbers[i], 1e-5) << rows << " x " << cols;
      ASSERT_NEAR(fast[2][i], plain[2].numbers[i], 1e-5);
    }
  }
}

TEST(Muon, TakesTheMatricesInsideTheModel) {
  for (const char* name :
       {"blocks.0.attention.W_Q.weight", "blocks.3.mlp.down.weight", "hidden_layer.weight"})
    EXPECT_TRUE(muon_takes({name, {4, 4}})) << name;
  for (const char* name :
       {"token_embedding.weight", "position_embedding.weight", "head.weight", "vocab_head.weight"})
    EXPECT_FALSE(muon_takes({name, {4, 4}})) << name;
  EXPECT_FALSE(muon_takes({"blocks.0.attention_norm.weight", {4}}));
}

// The stored numbers were float32.
void fill(const Tensor& out, const nlohmann::json& numbers) {
  with_real(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.count(); ++i)
      out.as<T>()[i] = static_cast<T>(numbers.at(static_cast<size_t>(i)).get<float>());
  });
}

// 20 steps of torch.optim.Muon on stored gradients: weights after 1, 2 and 20 steps, and the momentum.
TEST(Muon, FollowsPyTorch) {
  const nlohmann::json stored = parity::load("muon");
  for (const auto& [engine, dtype, limit] : {std::tuple{Engine::reference, DType::f64, 1e-12},
                                             {Engine::reference, DType::f32, 1e-5},
                                             {Engine::fast, DType::f32, 1e-5}}) {
    for (const nlohmann::json& c : stored.at("cases")) {
      Parameters p(dtype);
      const std::vector<const char*> names = {"square", "wide", "tall"};
      for (const char* name : names) {
        const auto shape = stored.at("start").at(name).at("shape").get<std::vector<int64_t>>();
        p.add(name, {shape[0], shape[1]});
      }
      p.allocate();
      TrainSettings s;
      s.optimizer = "muon", s.muon_learning_rate = c.at("learning_rate"), s.momentum = c.at("momentum");
      s.weight_decay = c.at("weight_decay");
      Optimizer optimizer(p, s, engine);
      for (int i = 0; i < 3; ++i) fill(p.value(i), stored.at("start").at(p.info(i).name).at("data"));
      int step = 0;
      for (const nlohmann::json& gradients : stored.at("gradients")) {
        for (int i = 0; i < 3; ++i) fill(p.grad(i), gradients.at(p.info(i).name));
        optimizer.update(++step, s.learning_rate, 1);
        if (!c.at("after").contains(std::to_string(step))) continue;
        for (int i = 0; i < 3; ++i) {
          const auto want =
              c.at("after").at(std::to_string(step)).at(p.info(i).name).get<std::vector<double>>();
          for (int64_t n = 0; n < p.value(i).count(); ++n)
            ASSERT_NEAR(p.value(i).at(n), want[static_cast<size_t>(n)], limit)
                << names[static_cast<size_t>(i)] << " step " << step;
        }
      }
      for (int i = 0; i < 3; ++i) {
        const auto want = c.at("m").at(p.info(i).name).get<std::vector<double>>();
        for (int64_t n = 0; n < p.value(i).count(); ++n)
          EXPECT_NEAR(optimizer.moment1(i).at(n), want[static_cast<size_t>(n)], limit * 10);
      }
    }
  }
}

// Half of learning_rate halves Muon's rate too: one schedule drives both.
TEST(Muon, ItsRateFollowsTheSchedule) {
  std::vector<double> moved;
  for (double share : {1.0, 0.5}) {
    Parameters p(DType::f64);
    p.add("hidden_layer.weight", {1, 1});
    p.allocate();
    p.grad(0).as<double>()[0] = 1;
    TrainSettings s;
    s.optimizer = "muon";
    Optimizer(p, s, Engine::reference).update(1, share * s.learning_rate, 1);
    moved.push_back(p.value(0).at(0));
  }
  EXPECT_NEAR(moved[0], -0.02 * five_rounds(1), 1e-15);
  EXPECT_NEAR(moved[1], moved[0] / 2, 1e-15);
}

}  // namespace
}  // namespace tril
