// tril reads what NumPy writes.
#include <gtest/gtest.h>

#include <map>

#include "numbers.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/npz.h"

namespace tril::parity {
namespace {

std::string write_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  static const TestFolder folder("npz_parity");
  const std::string path = folder.at("file");
  write_file_atomically(path, bytes);
  return path;
}

std::vector<double> values_of(const StoredTensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < elements(tensor); ++i) values.push_back(element(tensor, i));
  return values;
}

TEST(NpzParity, ReadsNumPysFiles) {
  const auto numbers = load("npz_file");
  for (const char* name : {"stored", "deflated"}) {
    const NpzFile file(write_hex(numbers["files"][name].get<std::string>()));
    std::map<std::string, const StoredTensor*> found;
    for (const StoredTensor& tensor : file.tensors()) found[tensor.name] = &tensor;
    ASSERT_EQ(found.size(), 14u);
    EXPECT_EQ(values_of(*found["w"]), (std::vector<double>{1.5, -2, 3, 4, 5, 6}));
    EXPECT_EQ(found["w"]->shape, (std::vector<int64_t>{2, 3}));
    std::vector<double> counted(24);
    for (size_t i = 0; i < 24; ++i) counted[i] = static_cast<double>(i);
    EXPECT_EQ(values_of(*found["fortran"]), counted);
    EXPECT_EQ(found["fortran"]->shape, (std::vector<int64_t>{2, 3, 4}));
    EXPECT_EQ(found["one"]->shape, std::vector<int64_t>{});
    EXPECT_EQ(element(*found["one"], 0), 2.5);
    EXPECT_EQ(found["none"]->shape, (std::vector<int64_t>{0, 4}));
    EXPECT_EQ(values_of(*found["half"]), (std::vector<double>{1, 65504}));
    for (const auto& [name_of_array, tensor] : found) {
      if (!name_of_array.starts_with("t_")) continue;
      const bool truth = tensor->type == StoredType::kBool;
      EXPECT_EQ(values_of(*tensor), truth ? (std::vector<double>{1, 1, 1}) : (std::vector<double>{1, 2, 3}))
          << name_of_array;
    }
  }
  const NpzFile npy(write_hex(numbers["files"]["npy"].get<std::string>()));
  EXPECT_EQ(npy.tensors().at(0).name, "array");
  EXPECT_EQ(values_of(npy.tensors().at(0)), (std::vector<double>{1.5, -2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace tril::parity
