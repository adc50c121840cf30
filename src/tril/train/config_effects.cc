#include "tril/train/config_effects.h"

#include <fmt/format.h>

#include "tril/train/token_corpus.h"

namespace tril {
namespace {

bool by_hash(const Config& c) {
  return c.data.split == "hash" || c.data.split == "auto";
}
bool from_tales(const Config& c) {
  return c.data.path == "tales" || (c.data.path.empty() && c.data.text.empty());
}
bool reads_text(const Config& c) {
  return !is_token_file(c.data.path);
}
bool makes(const Config& c, std::string_view tokenizer) {
  return c.train.from.empty() && c.data.tokenizer == tokenizer;
}
bool normalizes(const Config& c) {
  return c.model.norm != "none";
}
bool turns(const Config& c) {
  return c.model.position == "rotary";
}

constexpr Effect kEffects[] = {
    {"data.repeat", [](const Config& c) { return !c.data.text.empty(); }, "data.text"},
    {"data.seed", from_tales, "the built-in tales as its text"},
    {"data.stories", reads_text, "a text: a .bin of token ids has no stories"},
    {"data.dedupe", [](const Config& c) { return by_hash(c) && reads_text(c); },
     "data.split hash, and a text: a .bin of token ids is one stream"},
    {"data.pattern", [](const Config& c) { return makes(c, "bpe"); }, "data.tokenizer bpe"},
    {"data.vocabulary", [](const Config& c) { return makes(c, "word") || makes(c, "bpe"); },
     "data.tokenizer word or bpe: a char vocabulary is every character, and a file has its own"},
    {"data.min_count", [](const Config& c) { return makes(c, "word"); }, "data.tokenizer word"},
    {"model.norm_place", normalizes, "model.norm"},
    {"model.norm_gain", normalizes, "model.norm"},
    {"model.embedding_norm", normalizes, "model.norm"},
    {"model.final_norm", normalizes, "model.norm"},
    {"model.norm_epsilon", [](const Config& c) { return normalizes(c) || c.model.qk_norm; }, "model.norm"},
    {"model.rope_theta", turns, "model.position rotary"},
    {"model.rope_pairing", turns, "model.position rotary"},
    {"train.from_sha256", [](const Config& c) { return !c.train.from.empty(); }, "train.from"},
    {"train.block", [](const Config& c) { return c.model.family == "decoder"; },
     "model.family decoder: a window is model.context long"},
    {"train.recompute", [](const Config& c) { return c.model.family == "decoder"; },
     "model.family decoder: a window model has no blocks"},
    {"train.recipe", [](const Config& c) { return c.model.family == "decoder"; }, "model.family decoder"},
    {"train.min_learning_rate", [](const Config& c) { return c.train.schedule != "constant"; },
     "a train.schedule that falls: cosine, linear or trapezoid"},
    {"train.cooldown", [](const Config& c) { return c.train.schedule == "trapezoid"; },
     "train.schedule trapezoid"},
    {"train.decay", [](const Config& c) { return c.train.weight_decay > 0; }, "train.weight_decay"},
    {"train.momentum", [](const Config& c) { return c.train.optimizer == "muon"; }, "train.optimizer muon"},
    {"train.muon_learning_rate", [](const Config& c) { return c.train.optimizer == "muon"; },
     "train.optimizer muon"},
    {"train.eval_examples", [](const Config& c) { return c.data.split != "none"; },
     "a data.split with a validation part"},
    {"train.sample_temperature", [](const Config& c) { return c.train.samples > 0; }, "train.samples"},
    {"lora.alpha", [](const Config& c) { return c.model.lora.rank > 0; }, "lora.rank"},
    {"lora.targets", [](const Config& c) { return c.model.lora.rank > 0; }, "lora.rank"},
    {"lora.adapter", [](const Config& c) { return c.model.lora.rank > 0; }, "lora.rank"},
    {"lora.adapter_sha256", [](const Config& c) { return !c.model.lora.adapter.empty(); }, "lora.adapter"},
};

}  // namespace

std::span<const Effect> effects() {
  return kEffects;
}

std::string no_effect(const Config& config, const ConfigKey& key) {
  if ((key.families & family_bit(config.model.family)) == 0)
    return fmt::format("has no effect in {}", config.model.family);
  const std::string name = key.full_name();
  for (const Effect& effect : kEffects)
    if (effect.key == name && !effect.counts(config))
      return fmt::format("has no effect without {}", effect.needs);
  return "";
}

Config without_idle_settings(const Config& config) {
  const Config defaults;
  Config kept = config;
  for (const ConfigKey& key : config_keys())
    if (!no_effect(config, key).empty()) set_value(kept, key, get_value(defaults, key));
  return kept;
}

}  // namespace tril
