#include "tril/formats/nanogpt.h"

#include <cstring>

#include "fuzz.h"
#include "tril/text/char_tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tril;
  return fuzz(data, size, [](std::string_view bytes) {
    const ForeignModel foreign = open_foreign_model(as_file(bytes, ".safetensors"));
    const auto model = load_foreign_model(foreign, DType::f32, int64_t{1} << 30);
    static const CharTokenizer tokenizer(std::vector<char32_t>{U'a'}, false);
    accept([&] {
      const std::string path = own_path(".out.safetensors");
      export_nanogpt({"x", *model, tokenizer, {}}, path);
      const auto again = load_foreign_model(open_foreign_model(path), DType::f32, int64_t{1} << 30);
      for (int i = 0; i < model->parameters().size(); ++i) {
        const Tensor a = model->parameters().value(i), b = again->parameters().value(i);
        require(a.shape == b.shape && std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes())) == 0,
                "nanogpt: written and read again, weights differ");
      }
    });
  });
}
