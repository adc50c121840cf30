#include "tril/model/registry.h"

#include "tril/base/error.h"
#include "tril/model/decoder.h"
#include "tril/model/window_attention.h"
#include "tril/model/window_mlp.h"

namespace tril {

std::unique_ptr<Model> make_model(const ModelConfig& config, DType dtype) {
  if (config.family == "window_attention") return std::make_unique<WindowAttention>(config, dtype);
  if (config.family == "window_mlp") return std::make_unique<WindowMlp>(config, dtype);
  if (config.family == "decoder") return std::make_unique<Decoder>(config, dtype);
  refuse("model.family '{}' is none of decoder, window_attention, window_mlp", config.family);
}

}  // namespace tril
