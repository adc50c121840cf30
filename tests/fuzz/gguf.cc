#include "tril/formats/gguf.h"

#include <cstring>
#include <vector>

#include "fuzz.h"
#include "tril/formats/export_model.h"
#include "tril/formats/foreign_model.h"
#include "tril/formats/gguf_model.h"
#include "tril/formats/gguf_tokenizer.h"

namespace {
using namespace tril;

// A whole model: written again in each type it is read, and in f32 its weights are the same, bit for bit.
void write_again(const std::string& path) {
  const ForeignModel foreign = open_foreign_model(path);
  if (!foreign.tokenizer) return;
  const auto model = load_foreign_model(foreign, DType::f32, int64_t{1} << 30);
  const std::string out = own_path(".out.gguf");
  for (const char* type : {"Q8_0", "F16", "F32"}) {
    export_gguf({"x", *model, *foreign.tokenizer, foreign.ends}, out, type);  // a number may not fit into F16
    accept([&] {
      const auto again = load_foreign_model(open_foreign_model(out), DType::f32, int64_t{1} << 30);
      if (std::string_view(type) != "F32") return;
      for (int i = 0; i < model->parameters().size(); ++i) {
        const Tensor a = model->parameters().value(i), b = again->parameters().value(i);
        require(a.shape == b.shape && std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes())) == 0,
                "gguf: written and read again, weights differ");
      }
    });
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const std::string path = as_file(bytes, ".gguf");
    const GgufFile file(path);
    std::vector<float> values;
    for (const GgufTensor& tensor : file.tensors()) {
      values.resize(tensor.type->readable ? static_cast<size_t>(tensor.elements()) : 0);
      fuzz(nullptr, 0, [&](std::string_view) { file.to_float(tensor, values); });
    }
    fuzz(nullptr, 0, [&](std::string_view) { read_gguf_tokenizer(file); });
    fuzz(nullptr, 0, [&](std::string_view) {
      Layout layout{};
      gguf_config(file, layout);
    });
    write_again(path);
  });
}
