#include "tril/formats/tensor_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tril {
namespace {

TEST(TensorRange, FindsTheEndsAndCountsWhatIsNotFinite) {
  std::vector<float> values(10000, 0.5f);
  values[0] = -3;
  values[9999] = 7;
  values[4095] = NAN;
  values[4096] = INFINITY;
  values[5000] = -INFINITY;
  const TensorRange range = range_of(stored("w", Tensor{{100, 100}, DType::f32, values.data()}));
  EXPECT_EQ(range.smallest, -3);
  EXPECT_EQ(range.largest, 7);
  EXPECT_EQ(range.finite, 9997);
  EXPECT_EQ(range.nan, 1);
  EXPECT_EQ(range.infinite, 2);
}

TEST(TensorRange, NothingFinite) {
  float nan = NAN;
  EXPECT_EQ(range_of(stored("w", Tensor{{1}, DType::f32, &nan})).finite, 0);
  const TensorRange none = range_of({"w", StoredType::kF16, {0, 4}, ""});
  EXPECT_EQ(none.finite + none.nan + none.infinite, 0);
  EXPECT_EQ(none.smallest, 0);
}

TEST(TensorRange, IntegersAreExact) {
  std::vector<int32_t> values = {16777217, -2147483647, 3};  // the first is no float
  const TensorRange range = range_of(stored("ids", Tensor{{3}, DType::i32, values.data()}));
  EXPECT_EQ(range.smallest, -2147483647);
  EXPECT_EQ(range.largest, 16777217);
}

}  // namespace
}  // namespace tril
