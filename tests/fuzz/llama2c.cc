#include "tril/formats/llama2c.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size,
                    [](std::string_view bytes) { tril::open_foreign_model(tril::as_file(bytes, ".bin")); });
}
