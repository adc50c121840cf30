#include "tril/autograd/parameters.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Parameters, ViewsLieInOneAlignedBuffer) {
  for (DType dtype : {DType::f32, DType::f64}) {
    Parameters p(dtype);
    const int a = p.add("a", {3, 5}), b = p.add("b", {7});
    p.allocate();
    EXPECT_EQ(p.count(), 22);
    EXPECT_EQ(p.find("b"), b);
    EXPECT_EQ(p.find("c"), -1);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p.value(a).data) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p.value(b).data) % 64, 0u);
    EXPECT_EQ(static_cast<char*>(p.value(b).data) - static_cast<char*>(p.flat_values().data),
              16 * size_of(dtype));
    EXPECT_EQ(p.flat_values().count(), 32);  // 15 → 16, 7 → 16
  }
}

// A weight read where it lies; the others stay where they are.
TEST(Parameters, ABorrowedWeightLiesElsewhere) {
  for (DType dtype : {DType::f32, DType::f64}) {
    Parameters p(dtype);
    const int a = p.add("a", {2}), b = p.add("b", {3});
    p.allocate();
    void* const before = p.value(a).data;
    const double there[3] = {1, 2, 3};  // three numbers of either type, and more
    p.borrow(b, there);
    EXPECT_EQ(p.value(b).data, there);
    EXPECT_EQ(p.value(b).shape, (Shape{3}));
    EXPECT_EQ(p.value(a).data, before);
    EXPECT_EQ(p.count(), 5);
  }
}

TEST(Parameters, ZeroGradsClearsOnlyGradients) {
  Parameters p;
  p.add("w", {4});
  p.allocate();
  p.value(0).as<float>()[2] = 5;
  p.grad(0).as<float>()[2] = 6;
  p.zero_grads();
  EXPECT_EQ(p.value(0).at(2), 5);
  EXPECT_EQ(p.grad(0).at(2), 0);
}

// After zero_grads() leftovers stay in memory until somebody asks; whoever asks finds zeros.
TEST(Parameters, GradientsAreClearedWhenTheyAreAskedFor) {
  Parameters p(DType::f32);
  const int a = p.add("a", {3}), b = p.add("b", {2});
  p.allocate();
  EXPECT_FALSE(*p.unsettled_grad(a).untouched);
  p.grad(a).as<float>()[1] = p.grad(b).as<float>()[0] = 5;
  p.zero_grads();
  EXPECT_TRUE(*p.unsettled_grad(a).untouched);
  EXPECT_EQ(p.grad(a).at(1), 0);
  EXPECT_FALSE(*p.unsettled_grad(a).untouched);
  const Tensor all = p.flat_grads();
  for (int64_t i = 0; i < all.count(); ++i) EXPECT_EQ(all.at(i), 0);
}

}  // namespace
}  // namespace tril
