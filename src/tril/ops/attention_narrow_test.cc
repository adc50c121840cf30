#include "tril/ops/attention_narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tril/ops/attention.h"
#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

struct Case {
  int64_t head, width, queries, keys, pad;
  bool causal;
};

// One example through this file's loops and through the definition in double, which is the op itself.
void expect_definition(const Case& c) {
  const int64_t heads = c.width / c.head, nq = c.queries * c.width, nk = c.keys * c.width;
  std::vector<float> values[3] = {numbers(nq, 1), numbers(nk, 2), numbers(nk, 3)};
  const std::vector<float> up = numbers(nq, 4);
  Tape tape({Engine::reference, DType::f64});
  std::vector<double> copies[3], grads[3];
  std::vector<Var> in;
  for (int i = 0; i < 3; ++i) {
    copies[i].assign(values[i].begin(), values[i].end());
    grads[i].assign(copies[i].size(), 0.5);
    const Shape shape{1, i == 0 ? c.queries : c.keys, c.width};
    in.push_back(tape.leaf({shape, DType::f64, copies[i].data()}, grads[i].data()));
  }
  auto pad = static_cast<int32_t>(c.pad);
  AttentionOptions options{.heads = heads};
  options.causal = c.causal;
  Var wanted = attention(tape, in[0], in[1], in[2], options, tape.constant({{1}, DType::i32, &pad}));
  for (int64_t i = 0; i < nq; ++i) wanted.g<double>()[i] = up[i];
  tape.backward(tape.make({}, true), 0);

  const NarrowAttention a{c.queries,
                          c.keys,
                          c.width,
                          c.head,
                          c.pad,
                          {c.causal, c.queries, c.keys},
                          1 / std::sqrt(static_cast<float>(c.head))};
  std::vector<float> w(static_cast<size_t>(attention_narrow_place(c.queries * c.keys, c.queries, c.width)));
  std::vector<float> m(up.size());
  std::vector<float> found[3] = {std::vector<float>(nq, 0.5f), std::vector<float>(nk, 0.5f),
                                 std::vector<float>(nk, 0.5f)};
  attention_narrow(a, values[0].data(), values[1].data(), values[2].data(), w.data(), m.data());
  attention_narrow_backward(a, values[0].data(), values[1].data(), values[2].data(), w.data(), up.data(),
                            found[0].data(), found[1].data(), found[2].data());
  for (int64_t i = 0; i < nq; ++i) ASSERT_NEAR(m[i], wanted.v<double>()[i], 5e-6) << "message " << i;
  for (int n = 0; n < 3; ++n)
    for (size_t i = 0; i < found[n].size(); ++i)
      ASSERT_NEAR(found[n][i], grads[n][i], 2e-5) << "gradient " << n << " at " << i;
}

TEST(AttentionNarrow, EqualsTheDefinitionInDouble) {
  int taken = 0;
  each_vector_level([&] {
    for (int64_t head : {4, 8, 16})
      for (int64_t width : {16, 48})
        for (int64_t keys : {1, 2, 3, 7, 33})
          for (const Case& c : {Case{head, width, keys, keys, 0, true},
                                {head, width, keys, keys, 0, false},
                                {head, width, 1, keys, 0, true},
                                {head, width, keys, keys, keys / 2, true}}) {
            if (!attention_is_narrow(head, width, keys)) continue;
            SCOPED_TRACE("head " + std::to_string(head) + " width " + std::to_string(width) + " keys " +
                         std::to_string(keys) + " queries " + std::to_string(c.queries));
            expect_definition(c);
            ++taken;
          }
  });
  EXPECT_GT(taken, 0);
}

TEST(AttentionNarrow, TakesWholeVectorsAndFewKeys) {
  each_vector_level([] {
    EXPECT_EQ(attention_is_narrow(4, 16, 16), vector_level() != std::string("SCALAR"));
    EXPECT_FALSE(attention_is_narrow(4, 20 * 16 + 8 + 2, 16));
    EXPECT_FALSE(attention_is_narrow(6, 48, 16));
    EXPECT_FALSE(attention_is_narrow(4, 16, 65));
  });
}

// An invisible key is never read: a NaN in it does not leak. A row whose scores are all −∞ gives zeros.
TEST(AttentionNarrow, HiddenKeysAreNotReadAndNothingVisibleGivesZeros) {
  each_vector_level([] {
    if (!attention_is_narrow(4, 16, 2)) return;
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> q(2 * 16, 1.0f), k = q, v = q, m(q.size());
    for (size_t i = 16; i < 32; ++i) k[i] = v[i] = kNaN;
    NarrowAttention a{2, 2, 16, 4, 0, {true, 2, 2}, 1};
    attention_narrow(a, q.data(), k.data(), v.data(), nullptr, m.data());
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(m[i], 1);
    for (size_t i = 16; i < 32; ++i) EXPECT_TRUE(std::isnan(m[i]));
    for (float& x : v) x = 1;  // a key alone is enough
    attention_narrow(a, q.data(), k.data(), v.data(), nullptr, m.data());
    for (size_t i = 16; i < 32; ++i) EXPECT_TRUE(std::isnan(m[i]));
    for (float& x : k) x = -std::numeric_limits<float>::infinity();
    for (float& x : v) x = 1;
    attention_narrow(a, q.data(), k.data(), v.data(), nullptr, m.data());
    for (float x : m) EXPECT_EQ(x, 0);
  });
}

// What a trace shows has heads outermost, whichever loops ran.
TEST(AttentionNarrow, ATraceShowsWeightsByHead) {
  std::vector<float> values[3] = {numbers(2 * 5 * 16, 1), numbers(2 * 5 * 16, 2), numbers(2 * 5 * 16, 3)};
  std::vector<double> weights[2];
  for (Engine engine : {Engine::reference, Engine::fast}) {
    Tape tape({engine, DType::f32, false, true});
    std::vector<Var> in;
    for (auto& x : values) in.push_back(tape.constant({{2, 5, 16}, DType::f32, x.data()}));
    attention(tape, in[0], in[1], in[2], {.heads = 4});
    const Tensor& shown = tape.named().back().second;
    ASSERT_EQ(tape.named().back().first, "weights");
    ASSERT_EQ(shown.shape, (Shape{2, 4, 5, 5}));
    for (int64_t i = 0; i < shown.count(); ++i) weights[engine == Engine::fast].push_back(shown.at(i));
  }
  for (size_t i = 0; i < weights[0].size(); ++i) ASSERT_NEAR(weights[0][i], weights[1][i], 1e-6) << i;
}

}  // namespace
}  // namespace tril
