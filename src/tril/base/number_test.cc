#include "tril/base/number.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Number, IntegersAreDecimalAndWhole) {
  EXPECT_EQ(parse_integer("12"), 12);
  EXPECT_EQ(parse_integer("+4"), 4);
  EXPECT_EQ(parse_integer("-9223372036854775808"), INT64_MIN);
  for (const char* text :
       {"", "+", "-", "+-3", "++3", "1.0", "1e3", "0x10", " 1", "1 ", "1,500", "9223372036854775808", "one"})
    EXPECT_FALSE(parse_integer(text)) << text;
}

TEST(Number, RealsAreFinite) {
  EXPECT_EQ(parse_real("0.5"), 0.5);
  EXPECT_EQ(parse_real("1e-3"), 1e-3);
  EXPECT_EQ(parse_real("+2"), 2.0);
  for (const char* text :
       {"", "nan", "NaN", "inf", "-inf", "infinity", "1e400", "1e-400", "0,5", "0x1p3", "1.0f", " 1", "."})
    EXPECT_FALSE(parse_real(text)) << text;
}

}  // namespace
}  // namespace tril
