#include "tril/formats/convert_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(ConvertTensor, RoundsToTheTypeThereAndKeepsTheBitsOfItsOwn) {
  std::array<double, 2> wide = {0.1, -1.5}, again = {};
  std::array<float, 2> narrow = {};
  const Tensor from{{2}, DType::f64, wide.data()}, to{{2}, DType::f32, narrow.data()},
      back{{2}, DType::f64, again.data()};
  copy_converted(stored("w", from), to, "f");
  EXPECT_EQ(narrow, (std::array<float, 2>{0.1F, -1.5F}));
  copy_converted(stored("w", to), back, "f");
  EXPECT_EQ(again[0], static_cast<double>(0.1F));
  copy_converted(stored("w", from), back, "f");
  EXPECT_EQ(again, wide);
}

TEST(ConvertTensor, AnotherShapeIsRefused) {
  std::array<double, 2> wide = {};
  std::array<float, 2> narrow = {};
  const Tensor from{{2}, DType::f64, wide.data()}, to{{2, 1}, DType::f32, narrow.data()};
  try {
    copy_converted(stored("w", from), to, "f");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "f: tensor 'w' is F64 [2], the model needs F32 [2, 1]");
  }
}

}  // namespace
}  // namespace tril
