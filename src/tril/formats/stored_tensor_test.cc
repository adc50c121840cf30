#include "tril/formats/stored_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(StoredTensor, EveryTypeIsRead) {
  const auto first = [](StoredType type, std::string_view bytes) {
    const StoredTensor tensor{"t", type, {1}, bytes};
    float value = 0;
    to_float(tensor, {&value, 1});
    EXPECT_EQ(static_cast<double>(value), element(tensor, 0)) << name_of(type);
    return element(tensor, 0);
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(first(StoredType::kF64, "\0\0\0\0\0\0\xf0\xbf"sv), -1);
  EXPECT_EQ(first(StoredType::kF32, "\0\0\0\xc0"sv), -2);
  EXPECT_EQ(first(StoredType::kF16, "\xff\x7b"sv), 65504);
  EXPECT_EQ(first(StoredType::kBF16, "\0\xc0"sv), -2);
  EXPECT_EQ(first(StoredType::kI64, "\xff\xff\xff\xff\xff\xff\xff\xff"sv), -1);
  EXPECT_EQ(first(StoredType::kU64, "\0\0\0\0\0\0\0\x80"sv), 9223372036854775808.0);
  EXPECT_EQ(first(StoredType::kI32, "\xfe\xff\xff\xff"sv), -2);
  EXPECT_EQ(first(StoredType::kU32, "\0\0\0\x80"sv), 2147483648.0);
  EXPECT_EQ(first(StoredType::kI16, "\xff\xff"sv), -1);
  EXPECT_EQ(first(StoredType::kU16, "\xff\xff"sv), 65535);
  EXPECT_EQ(first(StoredType::kI8, "\xff"sv), -1);
  EXPECT_EQ(first(StoredType::kU8, "\xff"sv), 255);
  EXPECT_EQ(first(StoredType::kBool, "\1"sv), 1);
}

TEST(StoredTensor, GoesBetweenMemoryAndFile) {
  float values[6] = {1, 2, 3, 4, 5, 6}, copy[6] = {};
  const Tensor tensor{{2, 3}, DType::f32, values};
  const StoredTensor out = stored("w", tensor);
  EXPECT_EQ(describe(out.type, out.shape), "F32 [2, 3]");
  copy_stored(out, {{2, 3}, DType::f32, copy}, "f");
  EXPECT_EQ(std::memcmp(values, copy, sizeof values), 0);
  try {
    copy_stored(out, {{3, 2}, DType::f32, copy}, "f");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "f: tensor 'w' is F32 [2, 3], the model needs F32 [3, 2]");
  }
}

}  // namespace
}  // namespace tril
