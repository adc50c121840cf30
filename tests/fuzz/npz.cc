#include "tril/formats/npz.h"

#include <algorithm>

#include "fuzz.h"
#include "tril/formats/tensor_range.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tril;
  return fuzz(data, size, [](std::string_view bytes) {
    const NpzFile file(as_file(bytes, ".npz"));
    for (const StoredTensor& tensor : file.tensors()) range_of(tensor);
    const std::string path = own_path(".out.npz");
    write_npz(path, file.tensors());  // may refuse a name that is too long
    accept([&] {
      const NpzFile again(path);
      require(again.tensors().size() == file.tensors().size(),
              "npz: written and read again, members are lost");
      for (size_t i = 0; i < file.tensors().size(); ++i) {
        const StoredTensor &a = file.tensors()[i], &b = again.tensors()[i];
        require(a.name == b.name && a.shape == b.shape && a.type == b.type && a.bytes == b.bytes,
                "npz: written and read again, a member differs");
      }
    });
  });
}
