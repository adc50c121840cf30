#include "fuzz.h"
#include "tril/text/load_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return tril::fuzz(data, size, [](std::string_view bytes) {
    const auto tokenizer = tril::parse_tokenizer(bytes, "x");
    tokenizer->decode(tokenizer->encode("a b  12\n"));
  });
}
