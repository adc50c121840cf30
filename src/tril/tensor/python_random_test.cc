// PythonRandom: identities. CPython's own numbers: tests/parity/random_test.cc.
#include "tril/tensor/python_random.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(PythonRandomTest, KnownFirstDraw) {
  EXPECT_EQ(PythonRandom(42).random(), 0.6394267984578837);
}

TEST(PythonRandomTest, TheSignOfASeedIsDropped) {
  EXPECT_EQ(PythonRandom(9), PythonRandom(-9));
  EXPECT_EQ(PythonRandom(INT64_MIN), PythonRandom(INT64_MIN));
}

TEST(PythonRandomTest, ChoiceSkipsZeroWeights) {
  PythonRandom r(1);
  const std::array<double, 4> weights{0, 1, 0, 0};
  for (int i = 0; i < 100; ++i) EXPECT_EQ(r.choice(std::span<const double>(weights).first(3)), 1u);
}

TEST(PythonRandomTest, RandrangeReachesEveryValueAndNoOther) {
  PythonRandom r(5);
  std::array<int, 5> seen{};
  for (int i = 0; i < 500; ++i) {
    const int64_t value = r.randrange(-2, 3);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    ++seen[static_cast<size_t>(value + 2)];
  }
  for (int count : seen) EXPECT_GT(count, 50);
}

TEST(PythonRandomTest, SavedStateGoesOnTheSame) {
  PythonRandom r(3), other(0);
  r.gauss(0, 1);
  other.set_state(r.state());
  EXPECT_EQ(other, r);
  EXPECT_EQ(other.gauss(0, 1), r.gauss(0, 1));
  EXPECT_EQ(other.random(), r.random());
  EXPECT_THROW(other.set_state("trilTG01"), Refusal);
}

}  // namespace
}  // namespace tril
