#include "tril/ops/dropout.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

std::vector<double> dropped(Tape& tape, double p) {
  const Tensor x = tape.arena().tensor({10000}, DType::f64), grad = tape.arena().zeros({10000}, DType::f64);
  std::fill_n(x.as<double>(), 10000, 1.0);
  Var y = dropout(tape, tape.leaf(x, grad.data), p);
  return {y.v<double>(), y.v<double>() + 10000};
}

// Every number is 0 or 1/(1 − p) = 4/3, about a quarter of them 0: 2,500 ± 4 · √(10000 · ¼ · ¾) = 173.
TEST(Dropout, KeepsTheMean) {
  Tape tape({Engine::reference, DType::f64});
  int zeros = 0;
  for (double y : dropped(tape, 0.25)) {
    EXPECT_TRUE(y == 0 || std::fabs(y - 4.0 / 3) < 1e-15);
    zeros += y == 0;
  }
  EXPECT_NEAR(zeros, 2500, 173);
}

// The last 2 of 5 examples, computed alone, are dropped as they are among the 5.
TEST(Dropout, APieceOfABatchTakesItsOwnDraws) {
  const std::vector<float> ones(5000, 1);
  Tape tape({Engine::fast, DType::f32});
  const auto run = [&](int64_t before, int64_t here) {
    tape.reset();
    tape.set_draws(7, 3);
    tape.set_place(before, here);
    const Var x = tape.constant({{here, 1000}, DType::f32, const_cast<float*>(ones.data())});
    const Var y = dropout(tape, x, 0.5);
    return std::vector<float>(y.v<float>(), y.v<float>() + y.count());
  };
  const std::vector<float> whole = run(0, 5), piece = run(3, 2);
  EXPECT_EQ(piece, std::vector<float>(whole.begin() + 3000, whole.end()));
  EXPECT_NE(piece, std::vector<float>(whole.begin(), whole.begin() + 2000));
}

TEST(Dropout, DrawsFollowFromSeedStepAndCall) {
  Tape tape({Engine::reference, DType::f64});
  tape.set_draws(7, 3);
  const std::vector<double> first = dropped(tape, 0.5), second = dropped(tape, 0.5);
  EXPECT_NE(first, second);  // another call of the same step
  tape.reset();
  EXPECT_EQ(dropped(tape, 0.5), first);  // the same step again
  EXPECT_EQ(dropped(tape, 0.5), second);
  tape.reset();
  tape.set_draws(7, 4);
  EXPECT_NE(dropped(tape, 0.5), first);
  tape.reset();
  tape.set_draws(8, 3);
  EXPECT_NE(dropped(tape, 0.5), first);
}

TEST(Dropout, OffInEvaluation) {
  Tape tape({Engine::reference, DType::f64, false});
  const Tensor x = tape.arena().zeros({2}, DType::f64);
  Var in = tape.constant(x);
  EXPECT_EQ(dropout(tape, in, 0.9), in);
  Tape recording({Engine::reference, DType::f64});
  in = recording.constant(x);
  EXPECT_EQ(dropout(recording, in, 0), in);
}

}  // namespace
}  // namespace tril
