// TorchGenerator: what the published definitions fix. PyTorch's own numbers: tests/parity/random_test.cc.
#include "tril/tensor/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(TorchGeneratorTest, RandIsTheLow24BitsOfAWord) {
  TorchGenerator g(0), words(0);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(g.rand(), static_cast<float>(words.random() % 16777216) / 16777216.0f);
}

TEST(TorchGeneratorTest, OnlyTheLow32BitsOfASeedMatter) {
  EXPECT_EQ(TorchGenerator(5), TorchGenerator((uint64_t{77} << 32) + 5));
  EXPECT_NE(TorchGenerator(5).random(), TorchGenerator(6).random());
}

TEST(TorchGeneratorTest, SixtyFourBitsAreHighWordFirst) {
  TorchGenerator g(3), words(3);
  const uint64_t first = words.random(), second = words.random();
  EXPECT_EQ(g.random64(), first * 4294967296u + second);
}

TEST(TorchGeneratorTest, UniformNeverReachesItsUpperEnd) {
  TorchGenerator g(1);
  std::vector<float> x(200'000);
  const float high = std::nextafter(1.0f, 2.0f);
  g.uniform(x, 1.0, high);  // two floats lie in the closed range, so a rounding up is sure to come
  for (float value : x) ASSERT_EQ(value, 1.0f);
}

TEST(TorchGeneratorTest, SeedingForgetsTheKeptNormal) {
  TorchGenerator g(4);
  std::vector<float> odd(3);
  g.randn(odd);
  EXPECT_NE(g, TorchGenerator(4));
  g.manual_seed(4);
  EXPECT_EQ(g, TorchGenerator(4));
}

TEST(TorchGeneratorTest, RandpermIsAPermutation) {
  TorchGenerator g(8);
  for (int64_t n : {0, 1, 2, 257}) {
    std::vector<int64_t> order = g.randperm(n), expected(static_cast<size_t>(n));
    std::iota(expected.begin(), expected.end(), 0);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, expected);
  }
}

TEST(TorchGeneratorTest, SavedStateGoesOnTheSame) {
  TorchGenerator g(12);
  std::vector<float> odd(5);
  g.randn(odd);
  TorchGenerator other(0);
  other.set_state(g.state());
  EXPECT_EQ(other, g);
  std::vector<float> a(3), b(3);
  g.randn(a);
  other.randn(b);
  EXPECT_EQ(a, b);
  EXPECT_EQ(other.random64(), g.random64());
}

TEST(TorchGeneratorTest, ForeignStateIsRefused) {
  TorchGenerator g(12);
  std::string bytes = g.state();
  bytes[5] = 'X';
  try {
    g.set_state(bytes);
    FAIL();
  } catch (const Refusal& error) {
    EXPECT_STREQ(error.what(),
                 "random state: 2517 bytes that are no saved generator; 2517 bytes beginning \"trilTG01\" "
                 "were expected");
  }
}

}  // namespace
}  // namespace tril
