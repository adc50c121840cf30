#include "fuzz.h"
#include "tril/formats/token_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size,
                    [](std::string_view bytes) { tril::TokenFile(tril::as_file(bytes, ".bin")).ids(300); });
}
