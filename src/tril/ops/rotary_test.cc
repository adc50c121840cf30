#include "tril/ops/rotary.h"

#include "tril/ops/op_testing.h"

namespace tril {
namespace {

using Rotary = OpTest;

// theta = 1 gives every pair the angle t: at t = 1 [1, 0] becomes [cos 1, sin 1].
TEST_F(Rotary, BothPairingsByHand) {
  const double c = std::cos(1.0), s = std::sin(1.0);
  RotaryOptions options{.heads = 1, .theta = 1, .start = 1};
  Var half = real({1, 1, 4}, {1, 2, 3, 4});  // pairs (1, 3) and (2, 4)
  Var y = rotary(tape, half, options);
  expect(y.value(), {c - 3 * s, 2 * c - 4 * s, s + 3 * c, 2 * s + 4 * c});
  send_back(y, {1, 0, 0, 0});
  expect(half.grad(), {c, 0, -s, 0});
  options.interleaved = true;  // pairs (1, 2) and (3, 4)
  expect(rotary(tape, real({1, 1, 4}, {1, 2, 3, 4}), options).value(),
         {c - 2 * s, s + 2 * c, 3 * c - 4 * s, 3 * s + 4 * c});
}

// D = 4, theta = 100: the second pair turns 100^(−1/2) = 1/10 as fast.
TEST_F(Rotary, LaterPairsTurnSlower) {
  Var y = rotary(tape, real({1, 2, 4}, {1, 1, 0, 0, 1, 1, 0, 0}), {.theta = 100});
  expect(y.value(), {1, 1, 0, 0, std::cos(1), std::cos(0.1), std::sin(1), std::sin(0.1)});
}

// A score depends on the distance alone: the same query and key, moved by 37 positions.
TEST_F(Rotary, ScoresDependOnDistance) {
  const auto score = [&](int64_t query, int64_t key) {
    Var q = rotary(tape, real({1, 1, 4}, {.3, -.2, .9, .4}), {.start = query});
    Var k = rotary(tape, real({1, 1, 4}, {-.5, .8, .1, .7}), {.start = key});
    double sum = 0;
    for (int64_t i = 0; i < 4; ++i) sum += q.value().at(i) * k.value().at(i);
    return sum;
  };
  EXPECT_NEAR(score(5, 2), score(42, 39), 1e-13);
  EXPECT_GT(std::fabs(score(5, 2) - score(5, 3)), 1e-3);
}

TEST_F(Rotary, PlacesAreTheRowsOwnPositions) {
  const Tensor places = tape.arena().tensor({3}, DType::i32);
  places.as<int32_t>()[0] = 0, places.as<int32_t>()[1] = 4, places.as<int32_t>()[2] = 0;
  Var y = rotary(tape, real({1, 3, 2}, {1, 0, 1, 0, 1, 0}), {.places = places});
  expect(y.value(), {1, 0, std::cos(4), std::sin(4), 1, 0});
}

TEST_F(Rotary, AnOddHeadIsRefused) {
  EXPECT_THROW(rotary(tape, real({1, 1, 3}, {1, 2, 3}), {}), std::invalid_argument);
}

}  // namespace
}  // namespace tril
