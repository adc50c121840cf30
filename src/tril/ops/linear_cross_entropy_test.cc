#include "tril/ops/linear_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tril/base/threads.h"
#include "tril/ops/linear.h"
#include "tril/ops/op_testing.h"
#include "tril/ops/relu.h"
#include "tril/ops/softcap.h"

namespace tril {
namespace {

using LinearCrossEntropy = OpTest;

// x = [1], W = [[ln 1], [ln 3]]: logits [0, ln 3], probabilities [¼, ¾]; target 0: loss ln 4.
// p = [−¾, ¾]: dx = ¾ ln 3, dW = p x, db = p.
TEST_F(LinearCrossEntropy, ByHand) {
  Var x = real({1, 1}, {1}), w = real({2, 1}, {0, std::log(3.0)}), b = real({2}, {0, 0});
  const CrossEntropy ce = linear_cross_entropy(tape, x, w, b, ids({1}, {0}));
  EXPECT_EQ(ce.counted, 1);
  expect(ce.loss.value(), {std::log(4.0)});
  tape.backward(ce.loss);
  expect(x.grad(), {0.75 * std::log(3.0)});
  expect(w.grad(), {-0.75, 0.75});
  expect(b.grad(), {-0.75, 0.75});
}

// The op is nothing but its parts: linear, softcap, cross_entropy. One target is not counted.
TEST_F(LinearCrossEntropy, EqualsTheCompositionOfItsParts) {
  const auto inputs = [&] {
    return std::vector<Var>{real({3, 2}, {.1, .2, -.3, .4, .5, -.6}),
                            real({4, 2}, {.3, -.1, .2, .9, -.5, .4, .6, .1}), real({4}, {.1, .2, .3, .4})};
  };
  const std::vector<Var> a = inputs(), b = inputs();
  Var targets = ids({3}, {3, -1, 0});
  const CrossEntropy whole =
      linear_cross_entropy(tape, a[0], a[1], a[2], targets, {.reduce = Reduce::mean, .cap = 0.5});
  const CrossEntropy parts = cross_entropy(tape, softcap(tape, linear(tape, b[0], b[1], b[2]), 0.5), targets);
  EXPECT_EQ(whole.counted, 2);
  EXPECT_NEAR(whole.loss.value().at(0), parts.loss.value().at(0), 1e-14);
  *whole.loss.g<double>() = *parts.loss.g<double>() = 3;
  tape.backward(tape.make({}, true), 0);
  for (int n = 0; n < 3; ++n)
    for (int64_t i = 0; i < a[n].count(); ++i)
      EXPECT_NEAR(a[n].grad().at(i), b[n].grad().at(i), 1e-14) << "input " << n << " at " << i;
}

// A batch too large for one tile (2,100 × 2,101 logits are more than 2^22 of them in 2,048 rows): the arena
// holds one tile and no more, and a second backward adds the same again.
TEST_F(LinearCrossEntropy, LogitsAreNeverKeptWhole) {
  Tape fast;
  constexpr int64_t kRows = 2100, kVocabulary = 21000;
  const Tensor x = fast.arena().zeros({kRows, 1}, DType::f32),
               dx = fast.arena().zeros({kRows, 1}, DType::f32);
  const Tensor w = fast.arena().zeros({kVocabulary, 1}, DType::f32);
  const Tensor t = fast.arena().zeros({kRows}, DType::i32);
  const CrossEntropy ce =
      linear_cross_entropy(fast, fast.leaf(x, dx.data), fast.constant(w), Var(), fast.constant(t));
  EXPECT_NEAR(ce.loss.value().at(0), std::log(double{kVocabulary}), 1e-5);
  EXPECT_LT(fast.arena().used(), size_t{17} << 20);  // the whole would be 176 MB
}

TEST_F(LinearCrossEntropy, ASecondBackwardAddsTheSame) {
  Tape fast;
  float x[2] = {1, 2}, dx[2] = {0, 0}, w[2] = {0, 1};
  int32_t t[2] = {0, 1};
  const CrossEntropy ce = linear_cross_entropy(fast, fast.leaf({{2, 1}, DType::f32, x}, dx),
                                               fast.constant({{2, 1}, DType::f32, w}), Var(),
                                               fast.constant({{2}, DType::i32, t}));
  fast.backward(ce.loss);
  const float once = dx[0];
  fast.backward(ce.loss);
  EXPECT_NEAR(dx[0], 2 * once, 1e-6);
}

// More logits than one tile holds: 150 rows of 30,000, with one row that is not counted.
struct ManyLogits {
  static constexpr int64_t kRows = 150, kVocabulary = 30000, kWidth = 3;
  struct Result {
    float loss;
    std::vector<float> dx, dw, db;
    bool operator==(const Result&) const = default;
  };
  static std::vector<float> numbers(int64_t count, float scale) {
    std::vector<float> out(static_cast<size_t>(count));
    for (size_t i = 0; i < out.size(); ++i) out[i] = scale * std::sin(1.7f * static_cast<float>(i % 1009));
    return out;
  }
  // One backward for each seed, after that promise.
  static Result run(double promise, const std::vector<double>& seeds, double cap = 0) {
    std::vector<float> x = numbers(kRows * kWidth, 2), w = numbers(kVocabulary * kWidth, 1),
                       b = numbers(kVocabulary, 0.5);
    std::vector<int32_t> t(kRows);
    for (size_t i = 0; i < t.size(); ++i) t[i] = static_cast<int32_t>(i * 199);
    t[70] = -1;
    Result out{0, std::vector<float>(x.size()), std::vector<float>(w.size()), std::vector<float>(b.size())};
    Tape tape;
    tape.promise(promise);
    const CrossEntropy ce = linear_cross_entropy(
        tape, tape.leaf({{kRows, kWidth}, DType::f32, x.data()}, out.dx.data()),
        tape.leaf({{kVocabulary, kWidth}, DType::f32, w.data()}, out.dw.data()),
        tape.leaf({{kVocabulary}, DType::f32, b.data()}, out.db.data()),
        tape.constant({{kRows}, DType::i32, t.data()}), {.reduce = Reduce::sum, .cap = cap});
    for (const double seed : seeds) tape.backward(ce.loss, seed);
    out.loss = ce.loss.v<float>()[0];
    return out;
  }
  static void expect_near(const Result& a, const Result& b) {
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * b.loss);
    for (const auto& [one, other] : {std::pair(&a.dx, &b.dx), {&a.dw, &b.dw}, {&a.db, &b.db}}) {
      float largest = 0, worst = 0;
      for (size_t i = 0; i < one->size(); ++i) {
        largest = std::max(largest, std::fabs((*other)[i]));
        worst = std::max(worst, std::fabs((*one)[i] - (*other)[i]));
      }
      EXPECT_GT(largest, 0);
      EXPECT_LT(worst, 1e-5f * largest);
    }
  }
};

// A promised seed sends the gradients back early; what comes out is the same, also where backward() then
// comes with another seed, or twice.
TEST_F(LinearCrossEntropy, APromisedSeedGivesTheSameGradients) {
  for (const double cap : {0.0, 1.5}) {
    const ManyLogits::Result plain = ManyLogits::run(0, {0.25}, cap);
    ManyLogits::expect_near(ManyLogits::run(0.25, {0.25}, cap), plain);
    ManyLogits::expect_near(ManyLogits::run(1, {0.25}, cap), plain);
    ManyLogits::expect_near(ManyLogits::run(0.125, {0.125, 0.125}, cap), plain);
  }
}

TEST_F(LinearCrossEntropy, APromisedSeedGivesTheSameBitsForAnyNumberOfThreads) {
  const int before = threads();
  set_threads(1);
  const ManyLogits::Result one = ManyLogits::run(0.25, {0.25});
  for (const int count : {2, 3, 7}) {
    set_threads(count);
    EXPECT_TRUE(ManyLogits::run(0.25, {0.25}) == one) << count << " threads";
  }
  set_threads(before);
}

// The promise is made use of: the gradients are there before backward().
TEST_F(LinearCrossEntropy, APromisedSeedIsSentBackAtOnce) {
  EXPECT_TRUE(ManyLogits::run(0.25, {}).dx == ManyLogits::run(0.25, {0.25}).dx);
}

TEST_F(LinearCrossEntropy, NothingCountedIsZero) {
  Var x = real({1, 1}, {1}), w = real({2, 1}, {0, 1});
  const CrossEntropy ce = linear_cross_entropy(tape, x, w, Var(), ids({1}, {-1}));
  EXPECT_EQ(ce.counted, 0);
  tape.backward(ce.loss);
  expect(ce.loss.value(), {0});
  expect(x.grad(), {0});
}

// One value as rows and as the head: fast and plain add both uses.
TEST_F(LinearCrossEntropy, RowsThatAreTheHeadGetTheSum) {
  const std::vector<double> numbers = {0.5, 0.25, 1, 0.125};
  std::vector<float> x(numbers.begin(), numbers.end()), dx(4, 0.0f);
  Tape fast;
  const Var h = relu(fast, fast.leaf({{2, 2}, DType::f32, x.data()}, dx.data()));
  int32_t targets[] = {1, 0};
  fast.backward(linear_cross_entropy(fast, h, h, Var(), fast.constant({{2}, DType::i32, targets})).loss);
  Var plain = real({2, 2}, {0.5, 0.25, 1, 0.125});
  const Var g = relu(tape, plain);
  tape.backward(linear_cross_entropy(tape, g, g, Var(), ids({2}, {1, 0})).loss);
  for (int64_t i = 0; i < 4; ++i) EXPECT_NEAR(dx[static_cast<size_t>(i)], plain.grad().at(i), 1e-6) << i;
}

}  // namespace
}  // namespace tril
