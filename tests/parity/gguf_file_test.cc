// tril reads the gguf package's file, and turns its quantised blocks into the package's numbers.
#include <gtest/gtest.h>

#include "numbers.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/gguf.h"

namespace tril::parity {
namespace {

TEST(GgufParity, ReadsTheGgufPackagesFile) {
  const auto numbers = load("gguf_file");
  const TestFolder folder("gguf_parity");
  write_file_atomically(folder.at("f"), from_hex(numbers["file"].get<std::string>()));
  const GgufFile file(folder.at("f"));
  EXPECT_EQ(std::get<std::string_view>(*file.find("general.architecture")), "llama");
  EXPECT_EQ(std::get<uint64_t>(*file.find("llama.context_length")), 128u);
  EXPECT_EQ(std::get<double>(*file.find("llama.attention.layer_norm_rms_epsilon")),
            static_cast<double>(1e-5f));
  EXPECT_EQ(std::get<bool>(*file.find("a.truth")), true);
  EXPECT_EQ(std::get<std::string_view>(*file.find("a.text")), "Ünï ▁x");
  EXPECT_EQ(file.strings("a.strings"), (std::vector<std::string_view>{"<s>", "", "▁the"}));
  EXPECT_EQ(file.floats("a.floats"), (std::vector<float>{0, -1.5f, 3.25f}));
  EXPECT_EQ(file.integers("a.integers"), (std::vector<int32_t>{3, 1, -6}));
  ASSERT_EQ(file.tensors().size(), 6u);
  EXPECT_EQ(file.view().unused, 0u);
  auto expected = numbers["expected"];
  expected["plain"] = numbers["weights"];
  for (const GgufTensor& tensor : file.tensors()) {
    EXPECT_EQ(tensor.shape, (std::vector<int64_t>{3, 64})) << tensor.name;
    std::vector<float> values(192);
    file.to_float(tensor, values);
    EXPECT_EQ(values, expected[tensor.name].get<std::vector<float>>()) << tensor.name;
  }
}

}  // namespace
}  // namespace tril::parity
