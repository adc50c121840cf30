// tril's safetensors writer gives the reference library's bytes, and its reader reads them.
#include <gtest/gtest.h>

#include <map>

#include "numbers.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/safetensors.h"

namespace tril::parity {
namespace {

TEST(SafetensorsParity, SameBytesAsTheReferenceLibrary) {
  const auto numbers = load("safetensors_file");
  static const TestFolder folder("safetensors_parity");
  const std::string path = folder.at("file");
  for (const auto& [name, hex] : numbers["files"].items()) {
    const std::string reference = from_hex(hex.get<std::string>());
    SafetensorsView view = parse_safetensors(reference, name);
    std::reverse(view.tensors.begin(), view.tensors.end());  // the writer has an order of its own
    write_safetensors(path, view.tensors, view.metadata);
    EXPECT_EQ(read_file(path), reference) << name;
  }
  const std::string bytes = from_hex(numbers["files"]["mixed"].get<std::string>());
  const SafetensorsView mixed = parse_safetensors(bytes, "mixed");
  const std::map<std::string, std::pair<int64_t, double>> known = {
      {"half", {1, 65504}}, {"brain", {2, 0.15625}}, {"big", {0, 1099511627776}}, {"ids", {1, -4}}};
  size_t seen = 0;
  for (const StoredTensor& tensor : mixed.tensors) {
    const auto at = known.find(tensor.name);
    if (at == known.end()) continue;
    EXPECT_EQ(element(tensor, at->second.first), at->second.second) << tensor.name;
    ++seen;
  }
  EXPECT_EQ(seen, known.size());
}

}  // namespace
}  // namespace tril::parity
