#include "tril/formats/gguf_writer.h"

#include <gtest/gtest.h>

#include "tril/base/folder_testing.h"
#include "tril/formats/gguf.h"

namespace tril {
namespace {

std::string written(const GgufWriter& writer) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "x.gguf", [&](FileWriter& file) {
    writer.write(file, [](size_t i, std::span<float> out) {
      for (size_t n = 0; n < out.size(); ++n) out[n] = static_cast<float>(10 * i + n);
    });
  });
  return read_file(folder / "x.gguf");
}

TEST(GgufWriter, WritesByteForByteWhatThePageSays) {
  GgufWriter writer;
  writer.u32("k", 5);
  writer.tensor("w", {2, 1}, *find_ggml_type("F32"));
  std::string expected("GGUF\3\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 24);
  expected += std::string("\1\0\0\0\0\0\0\0k\4\0\0\0\5\0\0\0", 17);
  expected +=
      std::string("\1\0\0\0\0\0\0\0w\2\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 41);
  expected.resize(96, '\0');
  expected += std::string("\0\0\0\0\0\0\x80\x3f", 8);
  expected.resize(128, '\0');
  EXPECT_EQ(written(writer), expected);
}

TEST(GgufWriter, WhatItWritesIsRead) {
  GgufWriter writer;
  writer.text("a", "text");
  writer.flag("b", true);
  writer.f32("c", 0.5F);
  writer.texts("d", std::vector<std::string>{"x", ""});
  writer.i32s("e", std::vector<int32_t>{-1, 7});
  writer.tensor("u", {3}, *find_ggml_type("F16"));
  writer.tensor("v", {2, 32}, *find_ggml_type("Q8_0"));
  const std::string bytes = written(writer);
  const GgufView view = parse_gguf(bytes, "x.gguf");
  EXPECT_EQ(view.version, 3u);
  ASSERT_EQ(view.values.size(), 5u);
  EXPECT_EQ(std::get<std::string_view>(view.values[0].second), "text");
  EXPECT_TRUE(std::get<bool>(view.values[1].second));
  EXPECT_EQ(std::get<double>(view.values[2].second), 0.5);
  EXPECT_EQ(strings_of(std::get<GgufArray>(view.values[3].second)), (std::vector<std::string_view>{"x", ""}));
  ASSERT_EQ(view.tensors.size(), 2u);
  EXPECT_EQ(view.tensors[1].shape, (std::vector<int64_t>{2, 32}));
  EXPECT_EQ(view.unused, 0u);
  std::vector<float> out(64);
  dequantise(*view.tensors[1].type, view.tensors[1].bytes, out);
  for (size_t n = 0; n < out.size(); ++n)
    EXPECT_NEAR(out[n], 10.0 + static_cast<double>(n), 73.0 / 254 + 0.05);
}

}  // namespace
}  // namespace tril
