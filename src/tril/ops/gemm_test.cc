#include "tril/ops/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "tril/base/threads.h"

namespace tril {
namespace {

std::vector<float> numbers(int64_t n, float seed) {
  std::vector<float> out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::sin(seed + 1.7f * static_cast<float>(i % 1009));
  return out;
}

// [[1,2],[3,4]]·[[5,6],[7,8]] = [[19,22],[43,50]]
TEST(Gemm, ByHand) {
  const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  double c[] = {1, 1, 1, 1};
  gemm_reference<double>({.m = 2, .n = 2, .k = 2, .beta = 2}, a, b, c);
  EXPECT_EQ(std::vector<double>(c, c + 4), (std::vector<double>{21, 24, 45, 52}));
  const double at[] = {1, 3, 2, 4}, bt[] = {5, 7, 6, 8};  // both stored transposed
  gemm_reference<double>({.ta = Transpose::yes, .tb = Transpose::yes, .m = 2, .n = 2, .k = 2}, at, bt, c);
  EXPECT_EQ(std::vector<double>(c, c + 4), (std::vector<double>{19, 22, 43, 50}));
}

TEST(Gemm, FastEqualsReferenceOnOddShapesAndStrides) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1},
                                                                   {3, 5, 7},
                                                                   {1, 300, 16},
                                                                   {257, 1, 33},
                                                                   {0, 4, 4},
                                                                   {4, 0, 4},
                                                                   {4, 4, 0},
                                                                   {130, 260, 70},
                                                                   {300, 140, 90},
                                                                   {256, 48, 48},
                                                                   {70, 100, 300}})
    for (Transpose ta : {Transpose::no, Transpose::yes})
      for (Transpose tb : {Transpose::no, Transpose::yes})
        for (double beta : {0.0, 1.0}) {
          Gemm g{ta, tb, m, n, k, 0.5, beta, 0, 0, n + 3};
          const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2);
          std::vector<float> fast = numbers(m * (n + 3), 3), plain = fast;
          gemm(g, a.data(), b.data(), fast.data());
          gemm_reference(g, a.data(), b.data(), plain.data());
          for (size_t i = 0; i < fast.size(); ++i)
            ASSERT_NEAR(fast[i], plain[i], 1e-4) << m << "x" << n << "x" << k << " at " << i;
        }
}

TEST(Gemm, BetaZeroDoesNotReadTheOldValue) {
  const float a[] = {1}, b[] = {2};
  float c[] = {std::nanf("")};
  gemm({.m = 1, .n = 1, .k = 1}, a, b, c);
  EXPECT_EQ(c[0], 2);
}

// Strips and tiles, a weight's gradient, and a product that is our own.
TEST(Gemm, SameBitsForAnyNumberOfThreads) {
  const int before = threads();
  for (const auto& [m, n, k] :
       std::vector<std::array<int64_t, 3>>{{300, 1500, 320}, {128, 128, 768}, {256, 48, 48}})
    for (const Transpose ta : {Transpose::no, Transpose::yes})
      for (const Transpose tb : {Transpose::no, Transpose::yes}) {
        const std::vector<float> a = numbers(m * k, 1), b = numbers(k * n, 2);
        std::vector<float> first;
        for (int count : {1, 2, 3, 7}) {
          set_threads(count);
          std::vector<float> c(static_cast<size_t>(m * n));
          gemm({.ta = ta, .tb = tb, .m = m, .n = n, .k = k}, a.data(), b.data(), c.data());
          if (first.empty()) first = c;
          EXPECT_EQ(std::memcmp(first.data(), c.data(), c.size() * sizeof(float)), 0) << count << " threads";
        }
      }
  set_threads(before);
}

}  // namespace
}  // namespace tril
