#include "tril/autograd/tape.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

// A small op of the test's own: y = a·b, so da += b dy and db += a dy.
Var product(Tape& tape, Var a, Var b) {
  Var y = tape.make({}, a.wants_grad() || b.wants_grad());
  *y.v<double>() = *a.v<double>() * *b.v<double>();
  tape.on_backward([=] {
    if (a.wants_grad()) *a.g<double>() += *b.v<double>() * *y.g<double>();
    if (b.wants_grad()) *b.g<double>() += *a.v<double>() * *y.g<double>();
  });
  return y;
}

TapeOptions plain() {
  return {Engine::reference, DType::f64, true, false};
}

class TapeTest : public testing::Test {
 protected:
  double x = 3, dx = 0;
  Var leaf(Tape& tape) { return tape.leaf({{}, DType::f64, &x}, &dx); }
};

// y = (x·x)·(x·x) with the inner node used twice: dy/dx = 4x³ = 108 at 3.
TEST_F(TapeTest, InnerNodeUsedTwice) {
  Tape tape(plain());
  Var a = leaf(tape);
  Var square = product(tape, a, a);
  tape.backward(product(tape, square, square));
  EXPECT_EQ(dx, 108);
}

TEST_F(TapeTest, ATapeThatDoesNotRecordGivesTheValueAndNoGradient) {
  Tape tape(plain());
  tape.set_recording(false);
  Var a = leaf(tape);
  EXPECT_EQ(*product(tape, a, a).v<double>(), 9);
  EXPECT_FALSE(a.wants_grad());
  tape.reset();
  tape.set_recording(true);
  tape.backward(product(tape, leaf(tape), leaf(tape)));
  EXPECT_EQ(dx, 6);
}

// a ← a·a three times: x⁸, slope 8x⁷ = 17496 at 3.
TEST_F(TapeTest, ChainOnTheSameName) {
  Tape tape(plain());
  Var a = leaf(tape);
  for (int i = 0; i < 3; ++i) a = product(tape, a, a);
  tape.backward(a);
  EXPECT_EQ(dx, 17496);
}

TEST_F(TapeTest, GradientsAreAddedToWhatIsThere) {
  dx = 5;
  Tape tape(plain());
  Var a = leaf(tape);
  tape.backward(product(tape, a, a));
  EXPECT_EQ(dx, 11);  // 5 + 2·3
  tape.reset();
  Var again = leaf(tape);
  tape.backward(product(tape, again, again), 2);
  EXPECT_EQ(dx, 23);  // + 2·2·3
}

TEST_F(TapeTest, RecordingOffKeepsNothing) {
  TapeOptions options = plain();
  options.record = false;
  Tape tape(options);
  Var y = product(tape, leaf(tape), leaf(tape));
  EXPECT_FALSE(y.wants_grad());
  tape.backward(y);
  EXPECT_EQ(dx, 0);
}

TEST_F(TapeTest, NamesAreKeptOnlyUnderTracing) {
  TapeOptions options = plain();
  Tape silent(options);
  silent.name("X", leaf(silent));
  EXPECT_TRUE(silent.named().empty());
  options.trace = true;
  Tape tracing(options);
  tracing.set_scope("blocks.1.");
  tracing.name("X", leaf(tracing));
  ASSERT_EQ(tracing.named().size(), 1u);
  EXPECT_EQ(tracing.named()[0].first, "blocks.1.X");
  EXPECT_EQ(tracing.named()[0].second.at(0), 3);
}

TEST_F(TapeTest, StepsAfterTheFirstAllocateNothing) {
  Tape tape(plain());
  const auto step = [&] {
    Var a = leaf(tape);
    for (int i = 0; i < 2000; ++i) product(tape, a, a);
    tape.reset();
  };
  step();
  step();
  const int64_t calls = tape.arena().system_calls();
  step();
  EXPECT_EQ(tape.arena().system_calls(), calls);
}

TEST_F(TapeTest, FastEngineIsSinglePrecision) {
  EXPECT_THROW(Tape({Engine::fast, DType::f64, true, false}), Refusal);
}

TEST_F(TapeTest, FrozenParameterGetsNoGradient) {
  Parameters p(DType::f64);
  p.add("w", {});
  p.add("u", {});
  p.allocate();
  p.value(0).as<double>()[0] = 2;
  p.value(1).as<double>()[0] = 5;
  p.set_frozen(0, true);
  Tape tape(plain());
  tape.backward(product(tape, tape.parameter(p, 0), tape.parameter(p, 1)));
  EXPECT_EQ(p.grad(0).at(0), 0);
  EXPECT_EQ(p.grad(1).at(0), 2);
}

// The first share of a gradient may be written; all later ones are added, and what nobody touched is zero.
TEST(Tape, TellsWhichShareIsTheFirst) {
  Tape tape;
  const Var y = tape.make({2}, true);
  const Share<float> first = y.share<float>(), second = y.share<float>();
  EXPECT_FALSE(first.add);
  EXPECT_TRUE(second.add);
  EXPECT_EQ(first.at, second.at);
  first.at[0] = 1, first.at[1] = 2;
  y.g<float>()[1] += 3;
  EXPECT_EQ(y.grad().at(0), 1);
  EXPECT_EQ(y.grad().at(1), 5);
  const Var untouched = tape.make({2}, true);
  EXPECT_EQ(untouched.grad().at(0), 0);
  EXPECT_TRUE(untouched.share<float>().add);
  const Var unwanted = tape.make({2}, false);
  EXPECT_EQ(unwanted.share<float>().at, nullptr);
}

TEST(Tape, AnAliasSharesNumbersAndGradient) {
  Tape tape;
  const Var x = tape.make({2, 3}, true), flat = tape.alias(x, {6});
  EXPECT_EQ(flat.shape(), (Shape{6}));
  EXPECT_EQ(flat.v<float>(), x.v<float>());
  EXPECT_FALSE(flat.share<float>().add);
  EXPECT_TRUE(x.share<float>().add);
}

// Keeps what it is told, and the gradient that the parameter had then.
struct Watched : BackwardWatch {
  explicit Watched(const Parameters& p) : parameters(p) {}
  void gradient_is_final(int parameter) override {
    told.emplace_back(parameter, parameters.grad(parameter).at(0));
  }
  void record_has_run() override { ++records; }
  const Parameters& parameters;
  std::vector<std::pair<int, double>> told;
  int records = 0;
};

// y = (w u) w: w is used first and last, so its gradient 2wu is final at the very end, after u's w².
TEST_F(TapeTest, AWatchIsToldOfEachGradientWhenNothingMoreAddsToIt) {
  Parameters p(DType::f64);
  p.add("w", {});
  p.add("u", {});
  p.add("unused", {});
  p.allocate();
  p.value(0).as<double>()[0] = 3;
  p.value(1).as<double>()[0] = 5;
  Tape tape(plain());
  Watched watch(p);
  tape.watch(p, watch);
  const Var w = tape.parameter(p, 0), u = tape.parameter(p, 1);
  tape.backward(product(tape, product(tape, w, u), tape.parameter(p, 0)));
  EXPECT_EQ(watch.told, (std::vector<std::pair<int, double>>{{1, 9}, {0, 30}}));
  EXPECT_EQ(watch.records, 2);
  tape.reset();
  tape.backward(product(tape, tape.parameter(p, 0), tape.parameter(p, 1)));
  EXPECT_EQ(watch.records, 2) << "reset() ends the watch";
}

// What a part that is run again uses is final when all of the part has been walked.
TEST_F(TapeTest, AWatchSeesThroughPartsThatAreRunAgain) {
  Parameters p(DType::f64);
  for (const char* name : {"a", "b", "c"}) p.add(name, {});
  p.allocate();
  for (int i = 0; i < 3; ++i) p.value(i).as<double>()[0] = 2 + i;
  TapeOptions options = plain();
  options.recompute = true;
  Tape tape(options);
  Watched watch(p);
  tape.watch(p, watch);
  const Var a = tape.parameter(p, 0);
  const Var y = tape.result_of({}, [&tape, &p, a] {
    return product(tape, product(tape, a, tape.parameter(p, 1)), tape.parameter(p, 1));
  });
  tape.backward(product(tape, y, tape.parameter(p, 2)));
  // y = a b², loss y c with a, b, c = 2, 3, 4: dc = 18, db = 2 a b c = 48, da = b² c = 36.
  EXPECT_EQ(watch.told, (std::vector<std::pair<int, double>>{{2, 18}, {1, 48}, {0, 36}}));
}

// A promised seed is known to what runs before backward(), but not to a part that will be run again, which
// would then send its gradients back twice.
TEST_F(TapeTest, APromiseEndsWithBackwardAndIsNotForPartsThatAreRunAgain) {
  TapeOptions options = plain();
  options.recompute = true;
  Tape tape(options);
  tape.promise(0.5);
  double inside = -1;
  const Var a = leaf(tape);
  const Var y = tape.result_of({}, [&tape, &inside, a] {
    inside = tape.promised();
    return product(tape, a, a);
  });
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(tape.promised(), 0.5);
  tape.backward(y, 0.5);
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(tape.promised(), 0);
  EXPECT_EQ(dx, 3);
  tape.promise(2);
  tape.reset();
  EXPECT_EQ(tape.promised(), 0);
}

}  // namespace
}  // namespace tril
