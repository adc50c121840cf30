#include "tril/formats/ggml_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tril/base/clock.h"

namespace tril {
namespace {

std::vector<float> floats_of(uint32_t id, const std::string& bytes, size_t n) {
  std::vector<float> out(n);
  dequantise(*find_ggml_type(id), bytes, out);
  return out;
}

TEST(GgmlTypes, UnknownNumbersAreNothing) {
  EXPECT_EQ(find_ggml_type(250), nullptr);
  EXPECT_EQ(find_ggml_type(4), nullptr);  // a type that was taken out again
  EXPECT_EQ(find_ggml_type(12)->name, "Q4_K");
  EXPECT_FALSE(find_ggml_type(12)->readable);
}

// d = 0.5 (0x3800). q = -128, 0, 127, then 1: y = -64, 0, 63.5, .5.
TEST(GgmlTypes, Q8ByHand) {
  std::string block("\x00\x38\x80\x00\x7f", 5);
  block.append(29, '\x01');
  const std::vector<float> y = floats_of(8, block, 32);
  EXPECT_EQ(y[0], -64);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 63.5);
  EXPECT_EQ(y[31], 0.5);
}

// Byte 0 is 0xf1: element 0 is 1 (low half), element 16 is 15 (high half). Q4_0 with d = 2: (1 - 8) 2 =
// -14, 14. Q4_1 with d = 2, m = -1: 2 - 1 = 1, 30 - 1 = 29.
TEST(GgmlTypes, Q4ByHand) {
  const std::string low(15, '\x08');
  const std::vector<float> zero = floats_of(2, std::string("\x00\x40\xf1", 3) + low, 32);
  EXPECT_EQ(zero[0], -14);
  EXPECT_EQ(zero[16], 14);
  EXPECT_EQ(zero[1], 0);
  EXPECT_EQ(zero[17], -16);
  const std::vector<float> one = floats_of(3, std::string("\x00\x40\x00\xbc\xf1", 5) + low, 32);
  EXPECT_EQ(one[0], 1);
  EXPECT_EQ(one[16], 29);
  EXPECT_EQ(one[1], 15);
  EXPECT_EQ(one[17], -1);
}

TEST(GgmlTypes, PlainNumbers) {
  EXPECT_EQ(floats_of(0, std::string("\0\0\0\xc0", 4), 1)[0], -2);
  EXPECT_EQ(floats_of(1, std::string("\x00\xc0", 2), 1)[0], -2);
  EXPECT_EQ(floats_of(30, std::string("\x00\xc0", 2), 1)[0], -2);
  EXPECT_EQ(floats_of(24, "\xff", 1)[0], -1);
  EXPECT_EQ(floats_of(25, std::string("\x00\x80", 2), 1)[0], -32768);
  EXPECT_EQ(floats_of(26, "\xff\xff\xff\xff", 1)[0], -1);
  EXPECT_EQ(floats_of(27, std::string("\x03\0\0\0\0\0\0\0", 8), 1)[0], 3);
  EXPECT_EQ(floats_of(28, std::string("\0\0\0\0\0\0\xf0\xbf", 8), 1)[0], -1);
}

// No test, but a figure for docs/interop.md: the best of twelve passes over 16 MB of output.
TEST(GgmlTypes, DISABLED_TellsItsRate) {
  for (const char* name : {"Q4_1", "Q4_0", "Q8_0", "BF16", "F16"}) {
    const GgmlType& type = *find_ggml_type(name);
    std::vector<float> out(size_t{1} << 22);
    const std::string blocks(out.size() / static_cast<size_t>(type.block) * static_cast<size_t>(type.bytes),
                             '\x31');
    double best = 1e9;
    for (int pass = 0; pass < 12; ++pass) {
      const double start = steady_seconds();
      dequantise(type, blocks, out);
      best = std::min(best, steady_seconds() - start);
    }
    std::printf("%s: %.1f GB of output a second\n", name, static_cast<double>(out.size()) * 4e-9 / best);
  }
}

}  // namespace
}  // namespace tril
