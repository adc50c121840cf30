#include "tril/formats/peft.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include "fuzz.h"
#include "tril/formats/export_model.h"
#include "tril/model/lora.h"
#include "tril/model/registry.h"
#include "tril/text/char_tokenizer.h"

namespace {
using namespace tril;

// The base that the corpus' adapters fit: those of other sizes are refused by their tensors.
ModelConfig base() {
  ModelConfig m;
  m.family = "decoder";
  m.vocab_size = 3, m.context = 4, m.d_model = 4, m.hidden = 6, m.layers = 1;
  m.heads = m.kv_heads = 2;
  m.norm = "rms", m.position = "rotary", m.activation = "swiglu";
  return m;
}

std::string in_folder(std::string_view config, std::string_view weights) {
  const std::string folder = own_path(".peft");
  std::filesystem::create_directory(folder);
  as_file(config, ".peft/adapter_config.json");
  as_file(weights, ".peft/adapter_model.safetensors");
  return folder;
}

std::unique_ptr<Model> read(const std::string& folder) {
  const PeftAdapter adapter(folder);
  ModelConfig config = base();
  config.lora = adapter.settings(config);
  auto model = make_model(config, DType::f32);
  adapter.copy_to(config, model->parameters());
  return model;
}

}  // namespace

// adapter_config.json up to the first zero byte, then adapter_model.safetensors.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return fuzz(data, size, [](std::string_view bytes) {
    const size_t cut = std::min(bytes.find('\0'), bytes.size());
    const auto model = read(in_folder(bytes.substr(0, cut), bytes.substr(std::min(cut + 1, bytes.size()))));
    static const CharTokenizer tokenizer(std::vector<char32_t>{U'a', U'b', U'c'}, false);
    accept([&] {
      const std::string out = own_path(".peft.out");
      std::filesystem::remove_all(out);
      export_peft({"x", *model, tokenizer, {}}, out);
      const auto again = read(out);
      require(again->parameters().size() == model->parameters().size(),
              "peft: read again, it has other layers");
      for (int i = 0; i < model->parameters().size(); ++i) {
        const Tensor a = model->parameters().value(i), b = again->parameters().value(i);
        require(!is_lora(model->parameters().info(i)) ||
                    std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes())) == 0,
                "peft: written and read again, an adapter differs");
      }
    });
  });
}
