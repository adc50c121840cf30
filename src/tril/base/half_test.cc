#include "tril/base/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tril {
namespace {

// Each number of the format, put together from its three fields in double.
double f16_by_definition(int bits) {
  const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

TEST(Half, EveryF16ToFloatIsExactAndComesBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const double value = f16_by_definition(bits);
    const float got = f16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(got));
      EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(got))));
      continue;
    }
    ASSERT_EQ(static_cast<double>(got), value) << bits;
    ASSERT_EQ(std::signbit(got), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(float_to_f16(got), bits);
  }
}

TEST(Half, EveryBf16ToFloatIsTheUpperHalfAndComesBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float got = bf16_to_float(static_cast<uint16_t>(bits));
    if (std::isnan(got)) {
      EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(got))));
    } else {
      ASSERT_EQ(float_to_bf16(got), bits);
    }
  }
}

// Halfway between neighbours the even one is taken, for numbers of every size.
TEST(Half, RoundsToNearestTiesToEven) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = f16_to_float(static_cast<uint16_t>(bits)),
                high = f16_to_float(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact in float
    ASSERT_EQ(float_to_f16(middle), (bits & 1) == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(float_to_f16(std::nextafter(middle, 0.f)), bits) << bits;
    ASSERT_EQ(float_to_f16(std::nextafter(middle, INFINITY)), bits + 1) << bits;
  }
  EXPECT_EQ(float_to_f16(65519.996f), 0x7bff);  // below the middle of 65504 and 65536
  EXPECT_EQ(float_to_f16(65520.f), 0x7c00);
  EXPECT_EQ(float_to_bf16(1.f + 0x1p-8f), 0x3f80);      // a tie: 1 is even
  EXPECT_EQ(float_to_bf16(1.f + 3 * 0x1p-8f), 0x3f82);  // a tie: the upper one is even
  EXPECT_EQ(float_to_bf16(3.4028235e38f), 0x7f80);      // the largest float rounds to infinity
}

}  // namespace
}  // namespace tril
