#include "tril/model/lora.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <set>

#include "tril/base/comma_list.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/model/registry.h"

namespace tril {
namespace {

// A name that lora.targets may hold, and the layers of a block that it stands for, each with an adapter of
// its own or ("qkv") all with one.
struct Target {
  std::string_view name;
  std::vector<std::string_view> layers;
  std::string_view together = "";
};

std::vector<Target> known_targets(const ModelConfig& config) {
  std::vector<Target> all = {{"W_Q", {"attention.W_Q"}}, {"W_K", {"attention.W_K"}},
                             {"W_V", {"attention.W_V"}}, {"W_O", {"attention.W_O"}},
                             {"up", {"mlp.up"}},         {"down", {"mlp.down"}}};
  if (config.activation == "swiglu") all.push_back({"gate", {"mlp.gate"}});
  if (config.norm == "rms") {
    for (const Target& target : {Target{"q_proj", {"attention.W_Q"}}, Target{"k_proj", {"attention.W_K"}},
                                 Target{"v_proj", {"attention.W_V"}}, Target{"o_proj", {"attention.W_O"}},
                                 Target{"up_proj", {"mlp.up"}}, Target{"down_proj", {"mlp.down"}}})
      all.push_back(target);
    if (config.activation == "swiglu") all.push_back({"gate_proj", {"mlp.gate"}});
  } else {
    all.push_back({"c_attn", {"attention.W_Q", "attention.W_K", "attention.W_V"}, "attention.qkv"});
    all.push_back({"attn.c_proj", {"attention.W_O"}});
    all.push_back({"c_fc", {"mlp.up"}});
    all.push_back({"mlp.c_proj", {"mlp.down"}});
    all.push_back({"c_proj", {"attention.W_O", "mlp.down"}});
  }
  return all;
}

std::vector<std::string> target_words(const ModelConfig& config) {
  return comma_list(config.lora.targets.empty() ? default_lora_targets(config) : config.lora.targets);
}

struct Sides {
  int64_t out, in;
};

Sides sides_of(const ModelConfig& c, std::string_view layer) {
  const int64_t d = c.d_model, d_k = c.d_k > 0 ? c.d_k : d, d_v = c.d_v > 0 ? c.d_v : d;
  const int64_t kv = c.kv_heads > 0 ? c.kv_heads : c.heads;
  if (layer == "attention.W_Q") return {d_k, d};
  if (layer == "attention.W_K") return {d_k / c.heads * kv, d};
  if (layer == "attention.W_V") return {d_v / c.heads * kv, d};
  if (layer == "attention.W_O") return {d, d_v};
  if (layer == "mlp.down") return {d, c.hidden};
  assert(layer == "mlp.up" || layer == "mlp.gate");
  return {c.hidden, d};
}

// Where a layer stands in its block.
size_t place_in_block(std::string_view layer) {
  constexpr std::string_view kOrder[] = {"attention.W_Q", "attention.W_K", "attention.W_V", "attention.W_O",
                                         "mlp.gate",      "mlp.up",        "mlp.down"};
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), layer) - std::begin(kOrder));
}

// The adapters of one block, named from the block on, in the order of its layers whatever they are called.
std::vector<LoraAdapter> block_adapters(const ModelConfig& config) {
  const std::vector<std::string> words = target_words(config);
  std::vector<LoraAdapter> all;
  for (const Target& target : known_targets(config)) {
    if (std::find(words.begin(), words.end(), target.name) == words.end()) continue;
    for (const std::string_view layer : target.layers) {
      const Sides sides = sides_of(config, layer);
      const bool first = target.together.empty() || layer == target.layers.front();
      if (first)
        all.push_back({std::string(target.together.empty() ? layer : target.together), sides.in, 0, {}});
      all.back().out += sides.out;
      all.back().layers.push_back({std::string(layer), sides.out});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const LoraAdapter& a, const LoraAdapter& b) {
    return place_in_block(a.layers.front().name) < place_in_block(b.layers.front().name);
  });
  return all;
}

std::string target_fault(const ModelConfig& config) {
  std::vector<std::string> names;
  for (const Target& target : known_targets(config)) names.emplace_back(target.name);
  for (const std::string& word : target_words(config)) {
    if (word.empty())
      return fmt::format(
          "lora.targets \"{}\" holds an empty name; it is layers' names, a comma between them; there are {}",
          config.lora.targets, fmt::join(names, ", "));
    if (std::find(names.begin(), names.end(), word) != names.end()) continue;
    return fmt::format("lora.targets: {} is no layer of this model that takes an adapter{}; there are {}",
                       in_quotes(word), nearest_hint(word, names), fmt::join(names, ", "));
  }
  std::set<std::string> taken;
  for (const LoraAdapter& adapter : block_adapters(config))
    for (const LoraAdapter::Layer& layer : adapter.layers)
      if (!taken.insert(layer.name).second)
        return fmt::format("lora.targets \"{}\" gives {} two adapters", config.lora.targets, layer.name);
  return "";
}

}  // namespace

std::string default_lora_targets(const ModelConfig& config) {
  if (config.norm == "rms") return "q_proj,v_proj";
  const bool gpt2 = config.norm == "layer" && (config.kv_heads == 0 || config.kv_heads == config.heads);
  return gpt2 ? "c_attn" : "W_Q,W_V";
}

std::string lora_target_of(const ModelConfig& config, const std::string& path) {
  std::string_view longest;
  for (const Target& target : known_targets(config)) {
    const bool whole = path == target.name, ends = path.ends_with("." + std::string(target.name));
    if ((whole || ends) && target.name.size() > longest.size()) longest = target.name;
  }
  return longest.empty() ? path : std::string(longest);
}

double lora_scale(const LoraSettings& lora) {
  return lora.alpha / static_cast<double>(lora.rank);
}

std::string lora_fault(const ModelConfig& config) {
  if (config.lora.rank == 0) return "";
  if (config.family != "decoder")
    return fmt::format("lora.rank {} needs the decoder, not {}", config.lora.rank, config.family);
  if (std::string fault = target_fault(config); !fault.empty()) return fault;
  for (const LoraAdapter& adapter : block_adapters(config))
    if (const int64_t side = std::min(adapter.in, adapter.out); config.lora.rank > side)
      return fmt::format("lora.rank {} is above {}, the smaller side of {} [{}, {}]", config.lora.rank, side,
                         adapter.name, adapter.out, adapter.in);
  return "";
}

std::vector<LoraAdapter> lora_adapters(const ModelConfig& config) {
  std::vector<LoraAdapter> all;
  if (config.lora.rank == 0) return all;
  const std::vector<LoraAdapter> block = block_adapters(config);
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::string start = fmt::format("blocks.{}.", i);
    for (LoraAdapter adapter : block) {
      adapter.name.insert(0, start);
      for (LoraAdapter::Layer& layer : adapter.layers) layer.name.insert(0, start);
      all.push_back(std::move(adapter));
    }
  }
  return all;
}

bool is_lora(const ParameterInfo& parameter) {
  return parameter.name.ends_with(".lora_A") || parameter.name.ends_with(".lora_B");
}

void draw_lora(Parameters& parameters, const std::function<void(const Tensor& a)>& draw) {
  for (int i = 0; i < parameters.size(); ++i) {
    if (!is_lora(parameters.info(i))) continue;
    const Tensor value = parameters.value(i);
    if (parameters.info(i).name.back() == 'A')
      draw(value);
    else
      with_real(value.dtype,
                [&](auto zero) { std::fill_n(value.as<decltype(zero)>(), value.count(), zero); });
  }
}

void draw_lora(Parameters& parameters, TorchGenerator& random) {
  draw_lora(parameters, [&](const Tensor& a) { draw_linear_weight(random, a); });
}

namespace {

// weight += scale · B[first …] A, each element summed in double.
template <class T>
void add_product(const Tensor& weight, const T* a, const T* b, int64_t rank, double scale) {
  const int64_t rows = weight.shape[0], columns = weight.shape[1];
  std::vector<double> row(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t k = 0; k < rank; ++k)
      for (int64_t c = 0; c < columns; ++c)
        row[static_cast<size_t>(c)] +=
            static_cast<double>(b[r * rank + k]) * static_cast<double>(a[k * columns + c]);
    T* const w = weight.as<T>() + r * columns;
    for (int64_t c = 0; c < columns; ++c)
      w[c] = static_cast<T>(static_cast<double>(w[c]) + scale * row[static_cast<size_t>(c)]);
  }
}

}  // namespace

std::unique_ptr<Model> merge_lora(const Model& model) {
  const Parameters& from = model.parameters();
  ModelConfig config = model.config();
  config.lora = {};
  std::unique_ptr<Model> merged = make_model(config, from.dtype());
  const Parameters& to = merged->parameters();
  for (int i = 0; i < to.size(); ++i) {
    const Tensor source = from.value(from.find(to.info(i).name));
    std::copy_n(static_cast<const char*>(source.data), source.bytes(), static_cast<char*>(to.value(i).data));
  }
  const LoraSettings& lora = model.config().lora;
  for (const LoraAdapter& adapter : lora_adapters(model.config())) {
    const Tensor a = from.value(from.find(adapter.name + ".lora_A")),
                 b = from.value(from.find(adapter.name + ".lora_B"));
    int64_t first = 0;
    for (const LoraAdapter::Layer& layer : adapter.layers) {
      const Tensor weight = to.value(to.find(layer.name + ".weight"));
      with_real(weight.dtype, [&](auto zero) {
        using T = decltype(zero);
        add_product<T>(weight, a.as<T>(), b.as<T>() + first * lora.rank, lora.rank, lora_scale(lora));
      });
      first += layer.rows;
    }
  }
  return merged;
}

}  // namespace tril
