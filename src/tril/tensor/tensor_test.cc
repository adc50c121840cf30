#include "tril/tensor/tensor.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Tensor, ReadsEveryType) {
  float f[] = {1.5f, -2.0f};
  double d[] = {0.1};
  int32_t i[] = {7};
  EXPECT_EQ((Tensor{{2}, DType::f32, f}).at(1), -2.0);
  EXPECT_EQ((Tensor{{1}, DType::f64, d}).at(0), 0.1);
  EXPECT_EQ((Tensor{{1}, DType::i32, i}).at(0), 7.0);
  EXPECT_EQ((Tensor{{2}, DType::f32, f}).bytes(), 8);
  EXPECT_EQ(dtype_of<float>(), DType::f32);
  EXPECT_EQ(dtype_of<double>(), DType::f64);
  EXPECT_EQ(dtype_of<int32_t>(), DType::i32);
}

}  // namespace
}  // namespace tril
