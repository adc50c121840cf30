#include "fuzz.h"
#include "tril/formats/token_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tril;
  return fuzz(data, size, [](std::string_view bytes) {
    const std::string path = as_file(bytes, ".bin");
    for (const int bits : {16, 32}) {
      std::vector<int32_t> ids;
      try {
        ids = TokenFile(path, bits).ids(300);
      } catch (const Refusal&) {
        continue;
      }
      if (ids.empty()) continue;  // a header and nothing behind it; without a header there is nothing to read
      accept([&] {
        const std::string out = own_path(".out.bin");
        write_token_file(out, ids, bits);
        require(TokenFile(out, bits).ids(300) == ids, "token_bin: written and read again, ids differ");
      });
    }
  });
}
