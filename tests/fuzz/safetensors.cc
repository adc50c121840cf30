#include "tril/formats/safetensors.h"

#include <vector>

#include "fuzz.h"
#include "tril/formats/tensor_range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size, [](std::string_view bytes) {
    for (const tril::StoredTensor& tensor : tril::parse_safetensors(bytes, "x").tensors)
      tril::range_of(tensor);
  });
}
