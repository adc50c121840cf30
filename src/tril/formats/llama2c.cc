#include "tril/formats/llama2c.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/interrupt.h"
#include "tril/base/sniff.h"
#include "tril/formats/model_limits.h"
#include "tril/text/load_tokenizer.h"

namespace tril {
namespace {
constexpr size_t kHeaderBytes = 7 * sizeof(int32_t);
constexpr double kEpsilon = 1e-5, kTheta = 10000;  // in run.c's text, not in the file
// The kinds of weights in the file's order, under GGUF's names (whose row order is the same).
constexpr const char* kOrder[] = {"attn_norm", "attn_q",   "attn_k",   "attn_v", "attn_output",
                                  "ffn_norm",  "ffn_gate", "ffn_down", "ffn_up"};

// Calls each(name) for every tensor in the file's order, and gap() where the two rotary tables lie.
template <class Each, class Gap>
void in_order(const ModelConfig& m, const Each& each, const Gap& gap) {
  each(std::string("token_embd.weight"));
  for (const char* kind : kOrder)
    for (int64_t i = 0; i < m.layers; ++i) each(fmt::format("blk.{}.{}.weight", i, kind));
  each(std::string("output_norm.weight"));
  gap();
  if (!m.tied) each(std::string("output.weight"));
}

std::map<std::string_view, const LayoutTensor*> by_name(const std::vector<LayoutTensor>& tensors) {
  std::map<std::string_view, const LayoutTensor*> named;
  for (const LayoutTensor& tensor : tensors) named[tensor.name] = &tensor;
  return named;
}

int64_t rotary_numbers(const ModelConfig& m) {
  return m.context * (m.d_model / m.heads / 2) * 2;
}

ModelConfig read_header(std::string_view bytes, const std::string& path) {
  if (bytes.size() < kHeaderBytes)
    refuse("{}: has {} bytes; llama2.c's header alone has {}", path, bytes.size(), kHeaderBytes);
  std::array<int32_t, 7> header{};
  std::memcpy(header.data(), bytes.data(), kHeaderBytes);
  const char* const names[] = {"dim",        "hidden_dim", "n_layers", "n_heads",
                               "n_kv_heads", "vocab_size", "seq_len"};
  const int64_t most[] = {kMostWidth, kMostHidden, kMostLayers, kMostHeads,
                          kMostHeads, kMostTokens, kMostContext};
  for (size_t i = 0; i < header.size(); ++i) {
    const int64_t value = i == 5 ? std::abs(static_cast<int64_t>(header[i])) : header[i];
    if (value < 1 || value > most[i]) {
      const auto seen = sniff(bytes.substr(0, kSniffBytes), bytes.size());
      refuse("{}: {} is {}, must be 1 to {}: it is no model of llama2.c{}", path, names[i], header[i],
             most[i], seen ? fmt::format(", it looks like {}", seen->name) : "");
    }
  }
  ModelConfig m;
  m.family = "decoder";
  m.d_model = header[0], m.hidden = header[1], m.layers = header[2], m.heads = header[3],
  m.kv_heads = header[4];
  m.tied = header[5] > 0;
  m.vocab_size = std::abs(static_cast<int64_t>(header[5]));
  m.context = header[6];
  if (m.d_model % m.heads != 0 || m.heads % m.kv_heads != 0 || m.d_model / m.heads % 2 != 0) {
    refuse("{}: dim {}, n_heads {} and n_kv_heads {} don't fit together", path, m.d_model, m.heads,
           m.kv_heads);
  }
  m.norm = "rms", m.norm_place = "pre", m.final_norm = true;
  m.position = "rotary", m.rope_pairing = "half", m.rope_theta = kTheta;
  m.activation = "swiglu", m.norm_epsilon = kEpsilon;
  return m;
}

void require_llama2c(const ModelConfig& m, const std::string& name) {
  require_counterpart(m, Layout::kGgufLlama, name, "llama2.c");
  std::string different;
  const auto unless = [&](bool fits, const std::string& text) {
    if (!fits) different += (different.empty() ? "" : ", ") + text;
  };
  unless(!m.bias, "model.bias = true");
  unless(!m.attention_bias, "model.attention_bias = true");
  unless(m.d_k == 0 || m.d_k == m.d_model, fmt::format("model.d_k = {}", m.d_k));
  unless(m.norm_epsilon == kEpsilon, fmt::format("model.norm_epsilon = {} (it has 1e-5)", m.norm_epsilon));
  unless(m.rope_theta == kTheta, fmt::format("model.rope_theta = {} (it has 10000)", m.rope_theta));
  if (!different.empty()) refuse("{}: llama2.c can't compute this decoder: {}", name, different);
}

}  // namespace

ForeignModel open_llama2c(const std::string& path, const std::optional<std::string>& tokenizer) {
  MappedFile file(path);
  const std::string_view bytes = file.bytes();
  ForeignModel model;
  model.path = path;
  model.layout = Layout::kGgufLlama;
  model.config = read_header(bytes, path);
  const std::vector<LayoutTensor> needed = layout_tensors(model.config, model.layout);
  const std::map<std::string_view, const LayoutTensor*> named = by_name(needed);
  std::vector<StoredTensor> tensors;
  size_t at = kHeaderBytes;
  in_order(
      model.config,
      [&](const std::string& name) {
        const LayoutTensor& tensor = *named.at(name);
        const size_t size = static_cast<size_t>(tensor.rows() * tensor.columns()) * sizeof(float);
        tensors.push_back(
            {name, StoredType::kF32, tensor.shape, at < bytes.size() ? bytes.substr(at, size) : ""});
        at += size;
      },
      [&] { at += static_cast<size_t>(rotary_numbers(model.config)) * sizeof(float); });
  if (at != bytes.size())
    refuse("{}: its header asks for {} bytes, the file has {}: it is cut, or no model of llama2.c", path, at,
           bytes.size());
  model.tensors.add(std::move(file), std::move(tensors));
  const std::string beside = path.substr(0, path.find_last_of('/') + 1) + "tokenizer.json";
  if (tokenizer || file_exists(beside)) model.tokenizer = load_tokenizer(tokenizer.value_or(beside));
  return model;
}

Exported export_llama2c(const ExportedModel& exported, const std::string& path) {
  const ModelConfig& m = exported.model.config();
  require_llama2c(m, exported.name);
  const std::vector<LayoutTensor> tensors = layout_tensors(m, Layout::kGgufLlama);
  const std::map<std::string_view, const LayoutTensor*> named = by_name(tensors);
  Exported done{static_cast<int64_t>(tensors.size()), 0, "llama"};
  write_file_atomically(path, [&](FileWriter& file) {
    const auto number = [](int64_t value) { return static_cast<int32_t>(value); };
    const std::array<int32_t, 7> header = {number(m.d_model),
                                           number(m.hidden),
                                           number(m.layers),
                                           number(m.heads),
                                           number(m.kv_heads > 0 ? m.kv_heads : m.heads),
                                           number(m.tied ? m.vocab_size : -m.vocab_size),
                                           number(m.context)};
    file.write({reinterpret_cast<const char*>(header.data()), kHeaderBytes});
    std::vector<float> numbers;
    const auto write_numbers = [&] {
      file.write({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
    };
    in_order(
        m,
        [&](const std::string& name) {
          const LayoutTensor& tensor = *named.at(name);
          interrupt::check();
          numbers.resize(static_cast<size_t>(tensor.rows() * tensor.columns()));
          gather(tensor, exported.model.parameters(), numbers);
          write_numbers();
        },
        [&] {  // cosines, then sines, of position · theta^(−2i/head): read by no program today
          const int64_t half = m.d_model / m.heads / 2;
          for (const bool sine : {false, true}) {
            numbers.clear();
            for (int64_t t = 0; t < m.context; ++t) {
              for (int64_t i = 0; i < half; ++i) {
                const double angle = static_cast<double>(t) *
                                     std::pow(kTheta, -static_cast<double>(i) / static_cast<double>(half));
                numbers.push_back(static_cast<float>(sine ? std::sin(angle) : std::cos(angle)));
              }
            }
            write_numbers();
          }
        });
    done.bytes = file.size();
  });
  return done;
}

}  // namespace tril
