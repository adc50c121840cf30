#include "tril/formats/safetensors.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "fuzz.h"
#include "tril/formats/tensor_range.h"

namespace {
using namespace tril;

bool same(std::vector<StoredTensor> a, std::vector<StoredTensor> b) {
  const auto by_name = [](const StoredTensor& x, const StoredTensor& y) { return x.name < y.name; };
  std::sort(a.begin(), a.end(), by_name), std::sort(b.begin(), b.end(), by_name);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const StoredTensor& x, const StoredTensor& y) {
    return std::tie(x.name, x.type, x.shape, x.bytes) == std::tie(y.name, y.type, y.shape, y.bytes);
  });
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const SafetensorsView view = parse_safetensors(bytes, "x");
    for (const StoredTensor& tensor : view.tensors) range_of(tensor);
    accept([&] {
      const std::string path = own_path(".safetensors");
      write_safetensors(path, view.tensors, view.metadata);
      const SafetensorsFile again{MappedFile(path)};
      require(same(again.tensors(), view.tensors), "safetensors: written and read again, it differs");
      if (!view.tensors.empty())
        require(again.find(view.tensors.front().name) != nullptr, "safetensors: a tensor isn't found");
    });
  });
}
