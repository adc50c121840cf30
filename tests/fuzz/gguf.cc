#include "tril/formats/gguf.h"

#include <vector>

#include "fuzz.h"
#include "tril/formats/gguf_model.h"
#include "tril/formats/gguf_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size, [](std::string_view bytes) {
    const tril::GgufFile file(tril::as_file(bytes, ".gguf"));
    std::vector<float> values;
    for (const tril::GgufTensor& tensor : file.tensors()) {
      if (!tensor.type->readable) continue;
      values.resize(static_cast<size_t>(tensor.elements()));
      file.to_float(tensor, values);
    }
    try {
      tril::read_gguf_tokenizer(file);
    } catch (const tril::Refusal&) {
    }
    tril::Layout layout{};
    tril::gguf_config(file, layout);
  });
}
