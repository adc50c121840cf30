// The checks between keys. Settings without effect are another table (config_effects.cc).
#include "tril/train/config_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tril/base/comma_list.h"
#include "tril/model/lora.h"
#include "tril/train/config.h"

namespace tril {
namespace {

using Faults = std::vector<CrossFault>;

constexpr double kMostText = 1e9;  // bytes of inline text, repeated

template <class... Args>
void add(Faults& faults, std::vector<std::string> keys, fmt::format_string<Args...> text, Args&&... args) {
  faults.push_back({std::move(keys), fmt::format(text, std::forward<Args>(args)...)});
}

void check_data(const Config& c, Faults& faults) {
  const DataSettings& data = c.data;
  if (!data.path.empty() && !data.text.empty())
    add(faults, {"data.text", "data.path"}, "data.path and data.text are both given; a run has one source");
  if (static_cast<double>(data.repeat) * static_cast<double>(data.text.size()) > kMostText)
    add(faults, {"data.repeat", "data.text"}, "data.text of {} bytes, {} times, is more than 1 GB",
        data.text.size(), data.repeat);
  if (data.tokenizer.empty())
    add(faults, {"data.tokenizer"},
        "data.tokenizer must be word, char, bpe or a path to a tokenizer file, is empty");
  if (data.vocabulary > 0 && data.vocabulary < 5 && data.tokenizer == "word")
    add(faults, {"data.vocabulary"}, "data.vocabulary {} leaves no word beside the 4 specials; at least 5",
        data.vocabulary);
  if (data.vocabulary > 0 && data.vocabulary < 257 && data.tokenizer == "bpe")
    add(faults, {"data.vocabulary"},
        "data.vocabulary {} can't hold 256 bytes and the end token; at least 257", data.vocabulary);
}

void check_heads(const Config& c, Faults& faults) {
  const ModelConfig& m = c.model;
  if (m.family == "window_mlp") return;
  const int64_t d_k = m.d_k > 0 ? m.d_k : m.d_model, d_v = m.d_v > 0 ? m.d_v : m.d_model;
  if (m.d_model % m.heads != 0 && (m.d_k == 0 || m.d_v == 0))
    add(faults, {"model.heads", "model.d_model"}, "model.d_model {} is not divisible by model.heads {}",
        m.d_model, m.heads);
  if (m.d_k > 0 && d_k % m.heads != 0)
    add(faults, {"model.d_k", "model.heads"}, "model.d_k {} is not divisible by model.heads {}", d_k,
        m.heads);
  if (m.d_v > 0 && d_v % m.heads != 0)
    add(faults, {"model.d_v", "model.heads"}, "model.d_v {} is not divisible by model.heads {}", d_v,
        m.heads);
  if (m.kv_heads > 0 && m.heads % m.kv_heads != 0)
    add(faults, {"model.kv_heads", "model.heads"}, "model.heads {} is not divisible by model.kv_heads {}",
        m.heads, m.kv_heads);
  if (m.position == "rotary" && d_k % m.heads == 0 && (d_k / m.heads) % 2 != 0)
    add(faults, {"model.position", "model.heads", "model.d_model"},
        "rotary positions need an even head size; d_k {} / heads {} is {}", d_k, m.heads, d_k / m.heads);
  if (m.position == "sinusoidal" && m.d_model % 2 != 0)
    add(faults, {"model.position", "model.d_model"},
        "sinusoidal positions need an even model.d_model; it is {}", m.d_model);
}

// Numbers that something is divided by must not become 0 in the run's precision.
void check_smallest(const Config& c, Faults& faults) {
  if (c.run.dtype != "f32") return;
  const std::pair<const char*, double> divisors[] = {{"model.softcap", c.model.softcap},
                                                     {"model.norm_epsilon", c.model.norm_epsilon},
                                                     {"train.epsilon", c.train.epsilon}};
  for (const auto& [key, value] : divisors)
    if (value > 0 && value < std::numeric_limits<float>::min())
      add(faults, {key}, "{} {} is too small for single precision; at least 1.2e-38", key, value);
}

void check_training(const Config& c, Faults& faults) {
  const TrainSettings& t = c.train;
  if (t.warmup > t.steps)
    add(faults, {"train.warmup", "train.steps"}, "train.warmup {} is longer than train.steps {}", t.warmup,
        t.steps);
  else if (t.schedule == "trapezoid" && t.cooldown > t.steps - t.warmup)
    add(faults, {"train.cooldown", "train.steps"},
        "train.warmup {} and train.cooldown {} exceed train.steps {}", t.warmup, t.cooldown, t.steps);
  if (t.min_learning_rate > t.learning_rate)
    add(faults, {"train.min_learning_rate", "train.learning_rate"},
        "train.min_learning_rate {} is above train.learning_rate {}", t.min_learning_rate, t.learning_rate);
  if (t.minutes > 0 && t.schedule != "trapezoid" && t.schedule != "constant")
    add(faults, {"train.minutes", "train.schedule"},
        "train.minutes {} settles the number of steps late, and schedule {} depends on it from the start; "
        "use "
        "trapezoid",
        t.minutes, t.schedule);
  if (t.accumulate > t.batch)
    add(faults, {"train.accumulate", "train.batch"}, "train.accumulate {} parts are more than train.batch {}",
        t.accumulate, t.batch);
  if (t.block > c.model.context && c.model.family == "decoder")
    add(faults, {"train.block", "model.context"}, "train.block {} is longer than model.context {}", t.block,
        c.model.context);
  if (const auto names = comma_list(t.freeze); std::find(names.begin(), names.end(), "") != names.end())
    add(faults, {"train.freeze"},
        "train.freeze \"{}\" holds an empty name; it is how parameters' names begin, a comma between them",
        t.freeze);
  if (t.batches == "documents" && c.model.family != "decoder")
    add(faults, {"train.batches", "model.family"}, "train.batches = documents needs the decoder, not {}",
        c.model.family);
  if (t.optimizer == "muon" && t.learning_rate <= 0)
    add(faults, {"train.learning_rate", "train.optimizer"},
        "train.learning_rate 0 would stop Muon too, whose rate follows it; hold the rest by train.freeze");
}

void check_machine(const Config& c, Faults& faults) {
  if (c.run.dtype == "f64" && c.run.engine != "reference")
    add(faults, {"run.dtype", "run.engine"}, "run.dtype f64 needs run.engine reference, not {}",
        c.run.engine);
  if (const std::string fault = lora_fault(c.model); fault.starts_with("lora.targets"))
    add(faults, {"lora.targets", "lora.rank"}, "{}", fault);
  else if (!fault.empty())
    add(faults, {"lora.rank", "lora.targets"}, "{}", fault);
  if (c.model.lora.rank > 0 && c.train.from.empty())
    add(faults, {"lora.rank", "train.from"},
        "lora.rank {} adapts a model that is there already; give it with --from", c.model.lora.rank);
}

}  // namespace

std::vector<CrossFault> cross_faults(const Config& config) {
  Faults faults;
  check_data(config, faults);
  check_heads(config, faults);
  check_training(config, faults);
  check_smallest(config, faults);
  check_machine(config, faults);
  return faults;
}

}  // namespace tril
