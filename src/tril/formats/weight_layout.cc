#include "tril/formats/weight_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "tril/base/error.h"

namespace tril {
namespace {
using Part = LayoutTensor::Part;
using RowOrder = LayoutTensor::RowOrder;

// The names of GPT-2's parts in the three layouts that have them. A layer is a name without .weight or .bias.
struct Gpt2Names {
  std::string_view tokens, positions, block, attention_norm, qkv, o, mlp_norm, up, down, final_norm, head;
};
constexpr Gpt2Names kTorchGpt2 = {"transformer.wte.weight",
                                  "transformer.wpe.weight",
                                  "transformer.h.",
                                  "ln_1",
                                  "attn.c_attn",
                                  "attn.c_proj",
                                  "ln_2",
                                  "mlp.c_fc",
                                  "mlp.c_proj",
                                  "transformer.ln_f",
                                  "lm_head.weight"};
constexpr Gpt2Names kGgufGpt2 = {"token_embd.weight", "position_embd.weight", "blk.",         "attn_norm",
                                 "attn_qkv",          "attn_output",          "ffn_norm",     "ffn_up",
                                 "ffn_down",          "output_norm",          "output.weight"};

struct LlamaNames {
  std::string_view tokens, block, attention_norm, q, k, v, o, mlp_norm, gate, up, down, final_norm, head;
};
constexpr LlamaNames kHfLlama = {"model.embed_tokens.weight",
                                 "model.layers.",
                                 "input_layernorm",
                                 "self_attn.q_proj",
                                 "self_attn.k_proj",
                                 "self_attn.v_proj",
                                 "self_attn.o_proj",
                                 "post_attention_layernorm",
                                 "mlp.gate_proj",
                                 "mlp.up_proj",
                                 "mlp.down_proj",
                                 "model.norm",
                                 "lm_head.weight"};
constexpr LlamaNames kGgufLlama = {
    "token_embd.weight", "blk.",     "attn_norm", "attn_q",   "attn_k",      "attn_v",       "attn_output",
    "ffn_norm",          "ffn_gate", "ffn_up",    "ffn_down", "output_norm", "output.weight"};

struct Sizes {
  int64_t d, d_k, d_v, heads, kv_heads;
  int64_t kv_k() const { return d_k / heads * kv_heads; }
  int64_t kv_v() const { return d_v / heads * kv_heads; }
};

Sizes sizes_of(const ModelConfig& c) {
  return {c.d_model, c.d_k > 0 ? c.d_k : c.d_model, c.d_v > 0 ? c.d_v : c.d_model, c.heads,
          c.kv_heads > 0 ? c.kv_heads : c.heads};
}

// Lists the tensors of one model.
class Lister {
 public:
  Lister(const ModelConfig& config, Layout layout) : c_(config), s_(sizes_of(config)), layout_(layout) {}

  std::vector<LayoutTensor> gpt2(const Gpt2Names& names) {
    const bool biases = layout_ != Layout::kNanoGpt || c_.bias || c_.attention_bias;
    table(names.tokens, "token_embedding.weight", c_.vocab_size);
    table(names.positions, "position_embedding.weight", c_.context);
    for (int64_t i = 0; i < c_.layers; ++i) {
      const std::string there = fmt::format("{}{}.", names.block, i), here = fmt::format("blocks.{}.", i);
      const std::string attention = here + "attention.", mlp = here + "mlp.";
      const auto layer = [&](std::string_view name, std::vector<Part> parts, int64_t in, bool has_bias) {
        linear(there + std::string(name), std::move(parts), in, has_bias, biases);
      };
      norm(there + std::string(names.attention_norm), here + "attention_norm", biases);
      layer(names.qkv,
            {{attention + "W_Q", s_.d_k}, {attention + "W_K", s_.kv_k()}, {attention + "W_V", s_.kv_v()}},
            s_.d, c_.attention_bias);
      layer(names.o, {{attention + "W_O", s_.d}}, s_.d_v, c_.attention_bias);
      norm(there + std::string(names.mlp_norm), here + "mlp_norm", biases);
      layer(names.up, {{mlp + "up", c_.hidden}}, s_.d, c_.bias);
      layer(names.down, {{mlp + "down", s_.d}}, c_.hidden, c_.bias);
    }
    norm(std::string(names.final_norm), "final_norm", biases);
    if (!c_.tied) table(names.head, "head.weight", c_.vocab_size);
    return std::move(all_);
  }

  std::vector<LayoutTensor> llama(const LlamaNames& names) {
    table(names.tokens, "token_embedding.weight", c_.vocab_size);
    for (int64_t i = 0; i < c_.layers; ++i) {
      const std::string there = fmt::format("{}{}.", names.block, i), here = fmt::format("blocks.{}.", i);
      const auto layer = [&](std::string_view name, const std::string& parameter, int64_t out, int64_t in,
                             bool bias, int64_t turned_heads = 0) {
        const size_t first = all_.size();
        linear(there + std::string(name), {{here + parameter, out}}, in, bias, bias);
        for (size_t at = first; turned_heads > 0 && at < all_.size(); ++at) turn(all_[at], turned_heads);
      };
      norm(there + std::string(names.attention_norm), here + "attention_norm", false);
      layer(names.q, "attention.W_Q", s_.d_k, s_.d, c_.attention_bias, s_.heads);
      layer(names.k, "attention.W_K", s_.kv_k(), s_.d, c_.attention_bias, s_.kv_heads);
      layer(names.v, "attention.W_V", s_.kv_v(), s_.d, c_.attention_bias);
      layer(names.o, "attention.W_O", s_.d, s_.d_v, c_.attention_bias);
      norm(there + std::string(names.mlp_norm), here + "mlp_norm", false);
      layer(names.gate, "mlp.gate", c_.hidden, s_.d, c_.bias);
      layer(names.up, "mlp.up", c_.hidden, s_.d, c_.bias);
      layer(names.down, "mlp.down", s_.d, c_.hidden, c_.bias);
    }
    norm(std::string(names.final_norm), "final_norm", false);
    if (!c_.tied) table(names.head, "head.weight", c_.vocab_size);
    return std::move(all_);
  }

 private:
  void table(std::string_view name, const char* parameter, int64_t rows) {
    all_.push_back({std::string(name), {rows, s_.d}, {{parameter, rows}}});
  }

  // A norm without learned gain is one with gains of 1, a layer norm without bias one with biases of 0.
  void norm(const std::string& name, const std::string& parameter, bool biases) {
    const auto vector = [&](const char* end, bool learned, float constant) {
      all_.push_back({name + end, {s_.d}, {{learned ? parameter + end : "", s_.d, constant}}});
    };
    vector(".weight", c_.norm_gain, 1);
    if (biases) vector(".bias", c_.bias && c_.norm == "layer", 0);
  }

  // `parts` name layers; `written` says whether the layout has a bias here, `has_bias` whether the model
  // does.
  void linear(const std::string& name, const std::vector<Part>& parts, int64_t in, bool has_bias,
              bool written) {
    LayoutTensor weight{name + ".weight", {}, {}}, bias{name + ".bias", {}, {}};
    int64_t out = 0;
    for (const Part& part : parts) {
      weight.parts.push_back({part.parameter + ".weight", part.rows});
      bias.parts.push_back({has_bias ? part.parameter + ".bias" : "", part.rows});
      out += part.rows;
    }
    weight.transposed = layout_ == Layout::kHfGpt2;
    weight.shape = weight.transposed ? std::vector{in, out} : std::vector{out, in};
    bias.shape = {out};
    all_.push_back(std::move(weight));
    if (written) all_.push_back(std::move(bias));
  }

  void turn(LayoutTensor& tensor, int64_t heads) const {
    const bool file = layout_ == Layout::kGgufLlama, here = c_.rope_pairing == "interleaved";
    if (file != here) tensor.order = file ? RowOrder::kInterleave : RowOrder::kHalve;
    tensor.heads = heads;
  }

  const ModelConfig& c_;
  const Sizes s_;
  const Layout layout_;
  std::vector<LayoutTensor> all_;
};

// Where row r of the parameters lies in the file.
int64_t place_of(const LayoutTensor& tensor, int64_t r) {
  if (tensor.order == RowOrder::kSame) return r;
  const int64_t size = tensor.rows() / tensor.heads, half = size / 2, first = r / size * size, i = r % size;
  if (tensor.order == RowOrder::kInterleave) return first + (i < half ? 2 * i : 2 * (i - half) + 1);
  return first + (i % 2 == 0 ? i / 2 : half + i / 2);
}

// Calls row(number of the row in the parameter, first place in the file) for each row of a part, whose first
// is row `first` of the whole.
template <class Row>
void each_row(const LayoutTensor& tensor, const Part& part, int64_t first, const Row& row) {
  const int64_t columns = tensor.columns();
  for (int64_t i = 0; i < part.rows; ++i) {
    const int64_t place = place_of(tensor, first + i);
    row(i, tensor.transposed ? place : place * columns);
  }
}

}  // namespace

int64_t LayoutTensor::rows() const {
  int64_t sum = 0;
  for (const Part& part : parts) sum += part.rows;
  return sum;
}

int64_t LayoutTensor::columns() const {
  return shape.size() == 1 ? 1 : shape[transposed ? 0 : 1];
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kHfGpt2:
      return "Hugging Face's GPT-2";
    case Layout::kHfLlama:
      return "Hugging Face's Llama";
    case Layout::kGgufGpt2:
      return "GGUF's gpt2";
    case Layout::kGgufLlama:
      return "GGUF's llama";
    case Layout::kNanoGpt:
      break;
  }
  return "nanoGPT";
}

std::string_view architecture_of(Layout layout) {
  return layout == Layout::kHfLlama || layout == Layout::kGgufLlama ? "llama" : "gpt2";
}

std::vector<LayoutTensor> layout_tensors(const ModelConfig& config, Layout layout) {
  Lister lister(config, layout);
  if (layout == Layout::kHfLlama) return lister.llama(kHfLlama);
  if (layout == Layout::kGgufLlama) return lister.llama(kGgufLlama);
  return lister.gpt2(layout == Layout::kGgufGpt2 ? kGgufGpt2 : kTorchGpt2);
}

void gather(const LayoutTensor& tensor, const Parameters& parameters, std::span<float> out) {
  const int64_t columns = tensor.columns(), step = tensor.transposed ? tensor.rows() : 1;
  assert(static_cast<int64_t>(out.size()) == tensor.rows() * columns);
  int64_t first = 0;
  for (const Part& part : tensor.parts) {
    const Tensor from = part.parameter.empty() ? Tensor() : parameters.value(parameters.find(part.parameter));
    with_real(from.dtype, [&](auto zero) {
      using T = decltype(zero);
      each_row(tensor, part, first, [&](int64_t i, int64_t at) {
        const T* row = from.exists() ? from.as<T>() + i * columns : nullptr;
        for (int64_t c = 0; c < columns; ++c)
          out[static_cast<size_t>(at + c * step)] =
              row != nullptr ? static_cast<float>(row[c]) : part.constant;
      });
    });
    first += part.rows;
  }
}

void scatter(const LayoutTensor& tensor, std::span<const float> in, Parameters& parameters) {
  const int64_t columns = tensor.columns(), step = tensor.transposed ? tensor.rows() : 1;
  assert(static_cast<int64_t>(in.size()) == tensor.rows() * columns);
  int64_t first = 0;
  for (const Part& part : tensor.parts) {
    if (!part.parameter.empty()) {
      const Tensor to = parameters.value(parameters.find(part.parameter));
      with_real(to.dtype, [&](auto zero) {
        using T = decltype(zero);
        each_row(tensor, part, first, [&](int64_t i, int64_t at) {
          for (int64_t c = 0; c < columns; ++c)
            to.as<T>()[i * columns + c] = static_cast<T>(in[static_cast<size_t>(at + c * step)]);
        });
      });
    }
    first += part.rows;
  }
}

}  // namespace tril
