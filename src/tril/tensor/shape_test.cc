#include "tril/tensor/shape.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Shape, CountsRowsAndColumns) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.rows(), 6);
  EXPECT_EQ(shape.cols(), 4);
  EXPECT_EQ(shape.count(), 24);
  EXPECT_EQ(shape.with_cols(9), (Shape{2, 3, 9}));
  EXPECT_EQ(shape.text(), "[2, 3, 4]");
}

TEST(Shape, ScalarAndEmpty) {
  EXPECT_EQ(Shape{}.count(), 1);
  EXPECT_EQ(Shape{}.text(), "[]");
  EXPECT_EQ((Shape{0, 5}).count(), 0);
  EXPECT_EQ((Shape{0, 5}).cols(), 5);
  EXPECT_NE((Shape{2, 1}), (Shape{2}));
}

}  // namespace
}  // namespace tril
