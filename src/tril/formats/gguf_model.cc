#include "tril/formats/gguf_model.h"

#include <fmt/format.h>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/formats/gguf_keys.h"
#include "tril/formats/gguf_tokenizer.h"
#include "tril/formats/model_limits.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {

void read_gpt2(GgufKeys& keys, const std::string& path, ModelConfig& m) {
  m.norm = "layer";
  m.position = "learned";
  m.activation = "gelu_tanh";
  m.bias = m.attention_bias = true;
  m.kv_heads = keys.integer("gpt2.attention.head_count_kv", kMostHeads, m.heads);
  if (m.kv_heads != m.heads)
    refuse("{}: gpt2.attention.head_count_kv is {}; gpt2 has as many as heads, {}", path, m.kv_heads,
           m.heads);
  m.norm_epsilon = keys.positive("gpt2.attention.layer_norm_epsilon");
}

void read_llama(GgufKeys& keys, const std::string& path, ModelConfig& m) {
  m.norm = "rms";
  m.position = "rotary";
  m.activation = "swiglu";
  m.rope_pairing = "half";
  m.kv_heads = keys.integer("llama.attention.head_count_kv", kMostHeads, m.heads);
  if (m.heads % m.kv_heads != 0)
    refuse("{}: llama.attention.head_count {} is not divisible by head_count_kv {}", path, m.heads,
           m.kv_heads);
  const int64_t head = keys.integer("llama.attention.key_length", kMostWidth, m.d_model / m.heads);
  const int64_t value = keys.integer("llama.attention.value_length", kMostWidth, head);
  const int64_t turned = keys.integer("llama.rope.dimension_count", kMostWidth, head);
  if (value != head)
    refuse("{}: llama.attention.value_length is {}, key_length {}; tril needs them equal", path, value, head);
  if (turned != head)
    refuse("{}: llama.rope.dimension_count is {}; tril turns all {} columns of a head", path, turned, head);
  if (head % 2 != 0) refuse("{}: heads of {} columns; rotary positions need an even number", path, head);
  m.d_k = m.d_v = head * m.heads;
  if (m.d_k > kMostWidth) {
    refuse("{}: llama.attention.key_length {} times {} heads is above {}", path, head, m.heads, kMostWidth);
  }
  m.norm_epsilon = keys.positive("llama.attention.layer_norm_rms_epsilon");
  m.rope_theta = keys.positive("llama.rope.freq_base", 10000);
  keys.must_be("llama.rope.scaling.type", "none");
}

// Biases are told by the tensors alone.
void read_biases(const GgufFile& file, ModelConfig& m) {
  m.attention_bias = file.find_tensor("blk.0.attn_q.bias") != nullptr;
  m.bias = file.find_tensor("blk.0.ffn_up.bias") != nullptr;
}

}  // namespace

ModelConfig gguf_config(const GgufFile& file, Layout& layout) {
  GgufKeys keys(file);
  const std::string architecture = keys.text("general.architecture");
  if (architecture != "llama" && architecture != "gpt2")
    refuse("{}: general.architecture is {}; tril reads llama and gpt2", file.path(), in_quotes(architecture));
  layout = architecture == "llama" ? Layout::kGgufLlama : Layout::kGgufGpt2;
  const auto key = [&](const char* name) { return fmt::format("{}.{}", architecture, name); };
  ModelConfig m;
  m.family = "decoder";
  m.norm_place = "pre";
  m.final_norm = true;
  m.d_model = keys.integer(key("embedding_length"), kMostWidth);
  m.heads = keys.integer(key("attention.head_count"), kMostHeads);
  m.layers = keys.integer(key("block_count"), kMostLayers);
  m.context = keys.integer(key("context_length"), kMostContext);
  m.hidden = keys.integer(key("feed_forward_length"), kMostHidden);
  const bool own_width = architecture == "llama" && keys.has(key("attention.key_length"));
  if (m.d_model % m.heads != 0 && !own_width) {
    refuse("{}: {} {} is not divisible by {} {}", file.path(), key("embedding_length"), m.d_model,
           key("attention.head_count"), m.heads);
  }
  if (architecture == "llama") {
    read_llama(keys, file.path(), m);
    read_biases(file, m);
  } else {
    read_gpt2(keys, file.path(), m);
  }
  const GgufTensor* tokens = file.find_tensor("token_embd.weight");
  if (tokens == nullptr || tokens->shape.size() != 2 || tokens->shape[0] < 1)
    refuse("{}: holds no table token_embd.weight", file.path());
  m.vocab_size = tokens->shape[0];
  if (keys.integer(key("vocab_size"), INT32_MAX, m.vocab_size) != m.vocab_size)
    refuse("{}: {} is not {}, the rows of token_embd.weight", file.path(), key("vocab_size"), m.vocab_size);
  m.tied = file.find_tensor("output.weight") == nullptr;
  keys.refuse_others(architecture + ".");
  return m;
}

ForeignModel open_gguf_model(const std::string& path, const std::optional<std::string>& tokenizer) {
  const auto file = std::make_shared<const GgufFile>(path);
  ForeignModel model;
  model.path = path;
  model.config = gguf_config(*file, model.layout);
  for (const GgufTensor& tensor : file->tensors()) refuse_unreadable(tensor, path);
  if (tokenizer) {
    model.tokenizer = load_tokenizer(*tokenizer);
  } else {
    const GgufTokenizer read = read_gguf_tokenizer(*file);
    model.tokenizer = read.tokenizer;
    model.ends = read.ends;
  }
  model.tensors.add(file);
  return model;
}

void write_gguf_config(GgufWriter& keys, const ModelConfig& m, Layout layout, const std::string& name,
                       const GgmlType& type) {
  const std::string architecture(architecture_of(layout));
  const auto key = [&](const char* end) { return fmt::format("{}.{}", architecture, end); };
  const auto u32 = [&](const char* end, int64_t value) { keys.u32(key(end), static_cast<uint32_t>(value)); };
  keys.text("general.architecture", architecture);
  keys.text("general.name", name);
  keys.u32("general.file_type", type.name == "F32" ? 0 : type.name == "F16" ? 1 : 7);
  keys.u32("general.quantization_version", 2);
  u32("context_length", m.context);
  u32("embedding_length", m.d_model);
  u32("block_count", m.layers);
  u32("feed_forward_length", m.hidden);
  u32("attention.head_count", m.heads);
  u32("vocab_size", m.vocab_size);
  const auto epsilon = static_cast<float>(m.norm_epsilon);
  if (architecture == "gpt2") {
    keys.f32("gpt2.attention.layer_norm_epsilon", epsilon);
    return;
  }
  const int64_t head = (m.d_k > 0 ? m.d_k : m.d_model) / m.heads;
  u32("attention.head_count_kv", m.kv_heads > 0 ? m.kv_heads : m.heads);
  u32("attention.key_length", head);
  u32("attention.value_length", head);
  u32("rope.dimension_count", head);
  keys.f32("llama.rope.freq_base", static_cast<float>(m.rope_theta));
  keys.f32("llama.attention.layer_norm_rms_epsilon", epsilon);
}

}  // namespace tril
