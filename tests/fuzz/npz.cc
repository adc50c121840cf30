#include "tril/formats/npz.h"

#include "fuzz.h"
#include "tril/formats/tensor_range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size, [](std::string_view bytes) {
    const tril::NpzFile file(tril::as_file(bytes, ".npz"));
    for (const tril::StoredTensor& tensor : file.tensors()) tril::range_of(tensor);
  });
}
