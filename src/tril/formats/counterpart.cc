// Which decoders have a counterpart in which layout: each switch that stands in the way is named.
#include <fmt/format.h>

#include <vector>

#include "tril/base/error.h"
#include "tril/formats/weight_layout.h"

namespace tril {
namespace {

// What the layout can't say, as "model.key = value (what it has)".
class Differences {
 public:
  template <class T>
  void unless(bool fits, const char* key, const T& value, const char* needs) {
    if (!fits) all_.push_back(fmt::format("model.{} = {} (it has {})", key, value, needs));
  }
  void word(bool fits, const char* key, const std::string& value, const char* needs) {
    unless(fits, key, '"' + value + '"', needs);
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

void check_common(const ModelConfig& c, Differences& found) {
  found.word(c.norm_place == "pre", "norm_place", c.norm_place, "pre");
  found.unless(!c.embedding_norm, "embedding_norm", c.embedding_norm, "none");
  found.unless(c.final_norm, "final_norm", c.final_norm, "one");
  found.word(c.mask == "causal", "mask", c.mask, "causal");
  found.unless(!c.qk_norm, "qk_norm", c.qk_norm, "none");
  found.unless(c.softcap == 0, "softcap", c.softcap, "none");
  found.unless(!c.head_bias, "head_bias", c.head_bias, "none");
}

void check_gpt2(const ModelConfig& c, Layout layout, Differences& found) {
  found.word(c.norm == "layer", "norm", c.norm, "layer");
  found.word(c.position == "learned", "position", c.position, "learned");
  found.unless(c.kv_heads == 0 || c.kv_heads == c.heads, "kv_heads", c.kv_heads, "as many as heads");
  found.unless(c.d_k == 0 || c.d_k == c.d_model, "d_k", c.d_k, "d_model");
  found.unless(c.d_v == 0 || c.d_v == c.d_model, "d_v", c.d_v, "d_model");
  if (layout == Layout::kGgufGpt2)
    found.word(c.activation == "gelu_tanh", "activation", c.activation, "gelu_tanh");
  else if (layout == Layout::kNanoGpt)
    found.word(c.activation == "gelu", "activation", c.activation, "gelu");
  else
    found.word(c.activation != "swiglu", "activation", c.activation, "gelu, gelu_tanh, relu or relu2");
  if (layout != Layout::kNanoGpt) return;
  found.unless(c.tied, "tied", c.tied, "true");
  found.unless(c.hidden == 4 * c.d_model, "hidden", c.hidden, "4 d_model");
}

void check_llama(const ModelConfig& c, Differences& found) {
  found.word(c.norm == "rms", "norm", c.norm, "rms");
  found.word(c.position == "rotary", "position", c.position, "rotary");
  found.word(c.activation == "swiglu", "activation", c.activation, "swiglu");
  found.unless((c.d_k > 0 ? c.d_k : c.d_model) == (c.d_v > 0 ? c.d_v : c.d_model), "d_v", c.d_v, "d_k");
}

}  // namespace

void require_counterpart(const ModelConfig& config, Layout layout, const std::string& run,
                         std::string_view format) {
  if (format.empty()) format = name_of(layout);
  if (config.family != "decoder") {
    refuse("{}: model.family = \"{}\" has no counterpart in {}; export it with --to safetensors", run,
           config.family, format);
  }
  Differences found;
  check_common(config, found);
  if (architecture_of(layout) == "llama") {
    check_llama(config, found);
  } else {
    check_gpt2(config, layout, found);
  }
  if (found.all().empty()) return;
  refuse("{}: this decoder has no counterpart in {}: {}; export it with --to safetensors", run, format,
         fmt::join(found.all(), ", "));
}

}  // namespace tril
