#include "tril/ops/attention.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "tril/ops/dropout.h"
#include "tril/ops/matmul.h"
#include "tril/ops/op_testing.h"
#include "tril/ops/scale.h"
#include "tril/ops/softmax.h"

namespace tril {
namespace {

using Attention = OpTest;

// The four-token example worked by hand (docs/attention.md): X = [[1,0,.2],[0,1,.1],[1,1,0],[.5,1,.4]] with
// its W_Q and W_K gives these queries and keys, and to three places these weights.
TEST_F(Attention, FourTokensByHand) {
  Var q = real({1, 4, 2}, {1.1, .1, .05, 1.05, 1, 1, .7, 1.2});
  Var k = real({1, 4, 2}, {1, 0, 0, 1, 1, 1, .5, 1});
  Var v = real({1, 4, 2}, {1.2, -.2, .1, .9, 1, 1, .9, .6});
  Tape traced({Engine::reference, DType::f64, false, true});
  attention(traced, q, k, v, {});
  ASSERT_EQ(traced.named().size(), 3u);
  EXPECT_EQ(traced.named()[2].first, "weights");
  EXPECT_EQ(traced.named()[2].second.shape, (Shape{1, 1, 4, 4}));
  expect(traced.named()[2].second,
         {1, 0, 0, 0, .330, .670, 0, 0, .248, .248, .503, 0, .152, .216, .355, .277}, 6e-4);
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) EXPECT_EQ(traced.named()[2].second.at(4 * i + j), 0);
}

// The op is nothing but its parts: scores, scale, mask, softmax, messages, each an op of its own.
TEST_F(Attention, EqualsTheCompositionOfItsParts) {
  const auto inputs = [&] {
    return std::vector<Var>{real({2, 3, 2}, {.1, .2, -.3, .4, .5, -.6, .7, .8, -.9, 1, 1.1, -1.2}),
                            real({2, 3, 2}, {.3, -.1, .2, .9, -.5, .4, .6, .1, .2, -.2, .8, .5}),
                            real({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})};
  };
  const std::vector<Var> a = inputs(), b = inputs();
  Var pad = ids({2}, {0, 1});
  Var whole = attention(tape, a[0], a[1], a[2], {}, pad);
  Var scores = scale(tape, matmul(tape, b[0], b[1], true), 1 / std::sqrt(2.0));
  Var parts = matmul(tape, softmax(tape, mask(tape, scores, pad)), b[2]);
  for (int64_t i = 0; i < whole.count(); ++i) EXPECT_NEAR(whole.value().at(i), parts.value().at(i), 1e-14);
  for (int64_t i = 0; i < whole.count(); ++i)
    whole.g<double>()[i] = parts.g<double>()[i] = static_cast<double>(i) - 5;
  tape.backward(tape.make({}, true), 0);
  for (int n = 0; n < 3; ++n)
    for (int64_t i = 0; i < a[n].count(); ++i)
      EXPECT_NEAR(a[n].grad().at(i), b[n].grad().at(i), 1e-13) << "input " << n << " at " << i;
}

// Under dropout the weights are an op's rows too: softmax, dropout, messages.
TEST_F(Attention, DropsWeightsAsDropoutDoes) {
  Tape one({Engine::reference, DType::f64}), other({Engine::reference, DType::f64});
  const auto run = [](Tape& t, bool whole) {
    std::vector<Var> in;
    for (double phase : {1, 2, 3}) {
      const Tensor x = t.arena().tensor({2, 6, 4}, DType::f64), g = t.arena().zeros({2, 6, 4}, DType::f64);
      for (int64_t i = 0; i < x.count(); ++i) x.as<double>()[i] = std::sin(phase + static_cast<double>(i));
      in.push_back(t.leaf(x, g.data));
    }
    Var y = whole ? attention(t, in[0], in[1], in[2], {.dropout = 0.4}) : [&] {
      Var weights = softmax(t, mask(t, scale(t, matmul(t, in[0], in[1], true), 0.5), Var()));
      return matmul(t, dropout(t, weights, 0.4), in[2]);
    }();
    for (int64_t i = 0; i < y.count(); ++i) y.g<double>()[i] = std::cos(static_cast<double>(i));
    t.backward(t.make({}, true), 0);
    std::vector<Tensor> all = {y.value()};
    for (Var x : in) all.push_back(x.grad());
    return all;
  };
  const std::vector<Tensor> whole = run(one, true), parts = run(other, false);
  for (size_t n = 0; n < whole.size(); ++n)
    for (int64_t i = 0; i < whole[n].count(); ++i)
      EXPECT_NEAR(whole[n].at(i), parts[n].at(i), 1e-13) << "tensor " << n << " at " << i;
}

TEST_F(Attention, NothingIsDroppedWhereNothingIsRecorded) {
  Tape evaluation({Engine::fast, DType::f32, false});
  const Tensor x = evaluation.arena().tensor({1, 3, 2}, DType::f32);
  for (int64_t i = 0; i < 6; ++i) x.as<float>()[i] = static_cast<float>(i);
  const Var v = evaluation.constant(x);
  const Var plain = attention(evaluation, v, v, v, {}),
            dropped = attention(evaluation, v, v, v, {.dropout = 0.9});
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(plain.value().at(i), dropped.value().at(i));
}

TEST_F(Attention, LastQueryAloneEqualsTheLastRow) {
  Var q = real({1, 3, 1}, {1, 2, 3}), k = real({1, 3, 1}, {.5, -.5, .2}), v = real({1, 3, 1}, {1, 10, 100});
  Var last = real({1, 1, 1}, {3});
  EXPECT_NEAR(attention(tape, q, k, v, {}).value().at(2), attention(tape, last, k, v, {}).value().at(0),
              1e-14);
}

// Changing what lies behind the mask, even to NaN, changes nothing; in loops and in products.
TEST_F(Attention, NothingLeaksFromBehindTheMask) {
  for (Engine engine : {Engine::reference, Engine::fast}) {
    for (int64_t length : {4, 40}) {
      Tape t({engine, DType::f32});
      const int64_t width = 32, count = length * width;
      const auto make = [&](float phase) {
        const Tensor x = t.arena().tensor({1, length, width}, DType::f32);
        for (int64_t i = 0; i < count; ++i) x.as<float>()[i] = std::sin(phase + static_cast<float>(i));
        return x;
      };
      Tensor k = make(2), v = make(3);
      const Var q = t.constant(make(1));
      const Var clean = attention(t, q, t.constant(k), t.constant(v), {});
      const std::vector<float> before(clean.v<float>(), clean.v<float>() + count - width);
      for (int64_t d = 0; d < width; ++d) {
        k.as<float>()[count - width + d] = std::numeric_limits<float>::quiet_NaN();
        v.as<float>()[count - width + d] = std::numeric_limits<float>::infinity();
      }
      const Var dirty = attention(t, q, t.constant(k), t.constant(v), {});
      for (int64_t i = 0; i < count - width; ++i) ASSERT_NEAR(dirty.v<float>()[i], before[i], 1e-6) << length;
    }
  }
}

// Case 38: scores that are all −∞ leave nothing to attend to: weights and message are zero, not NaN. The
// second query is an ordinary one.
TEST_F(Attention, ARowOfNothingButMinusInfinityIsZero) {
  const float inf = std::numeric_limits<float>::infinity();
  float q[] = {-inf, 1}, k[] = {1, 1}, v[] = {2, 4};
  for (Engine engine : {Engine::reference, Engine::fast}) {
    Tape t({engine, DType::f32, false, true});
    const auto row = [&](float* x) { return t.constant({{1, 2, 1}, DType::f32, x}); };
    expect(attention(t, row(q), row(k), row(v), {}).value(), {0, 3});
    expect(t.named()[2].second, {0, 0, 0.5, 0.5});
  }
}

// Case 38, backward: four tokens, of which the second can see nothing, its own and all earlier keys being as
// far away as can be. It sends back nothing, and the other rows send back what they would without it.
TEST_F(Attention, ARowThatSeesNothingSendsNothingBack) {
  for (Engine engine : {Engine::reference, Engine::fast}) {
    std::vector<std::vector<double>> gradients;
    for (const bool blocked : {true, false}) {
      Tape t({engine, DType::f32});
      const auto leaf = [&](std::initializer_list<float> numbers) {
        const Tensor x = t.arena().tensor({1, 4, 1}, DType::f32), g = t.arena().zeros({1, 4, 1}, DType::f32);
        std::copy(numbers.begin(), numbers.end(), x.as<float>());
        return t.leaf(x, g.data);
      };
      // −3e38 · 100 overflows to −∞ in f32; the other queries are ordinary.
      Var q = leaf({0.01f, blocked ? -3e38f : 0, 0.02f, -0.01f}), k = leaf({100, 90, 80, 70}),
          v = leaf({1, 2, 3, 4});
      Var y = attention(t, q, k, v, {});
      if (blocked) {
        EXPECT_EQ(y.value().at(1), 0);
      }
      for (int i = 0; i < 4; ++i) y.g<float>()[i] = i == 1 && !blocked ? 0 : 1;
      t.backward(t.make({}, true), 0);
      std::vector<double> all;
      for (Var x : {q, k, v})
        for (int i = 0; i < 4; ++i) all.push_back(x.grad().at(i));
      EXPECT_EQ(all[1], 0);  // of the query itself
      gradients.push_back(all);
    }
    EXPECT_EQ(gradients[0], gradients[1]);
  }
}

TEST_F(Attention, OneMaskIsTheWholeDifferenceToAnEncoder) {
  Var q = real({1, 2, 1}, {0, 0}), k = real({1, 2, 1}, {0, 0}), v = real({1, 2, 1}, {2, 4});
  expect(attention(tape, q, k, v, {}).value(), {2, 3});
  AttentionOptions encoder;
  encoder.causal = false;
  expect(attention(tape, q, k, v, encoder).value(), {3, 3});
}

}  // namespace
}  // namespace tril
