// The presets and recipes that are embedded in the program (presets/*.toml, recipes/*.toml).
#include <algorithm>
#include <array>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/train/config.h"

namespace tril {

// Written by cmake/embed_presets.cmake: (name, text) of each file, sorted by name.
const std::vector<std::pair<std::string_view, std::string_view>>& embedded_presets();
const std::vector<std::pair<std::string_view, std::string_view>>& embedded_recipes();

namespace {

// From the simplest model to the largest. Presets that are missing here come last, by name.
constexpr std::array<std::string_view, 14> kOrder = {
    "one-head-smoke",     "one-head-classroom", "window-mlp", "window-mlp-64", "one-head-64",
    "four-heads-64",      "tiny-gpt-abc",       "microgpt",   "microgpt-16",   "shakespeare-char",
    "shakespeare-char-6", "names-char",         "tales-bpe",  "llama-tiny"};

size_t rank(std::string_view name) {
  return static_cast<size_t>(std::find(kOrder.begin(), kOrder.end(), name) - kOrder.begin());
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded_presets()) names.emplace_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
  return names;
}

std::string_view preset_text(std::string_view name) {
  for (const auto& [known, text] : embedded_presets())
    if (known == name) return text;
  refuse("there is no preset {}{}", in_quotes(name), nearest_hint(name, preset_names()));
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const auto& [name, text] : embedded_recipes()) names.emplace_back(name);
  return names;
}

std::string_view recipe_text(std::string_view name) {
  for (const auto& [known, text] : embedded_recipes())
    if (known == name) return text;
  refuse("there is no recipe {}{}", in_quotes(name), nearest_hint(name, recipe_names()));
}

std::string preset_about(std::string_view name) {
  std::string_view text = preset_text(name);
  std::string about;
  while (text.starts_with("# ")) {
    const std::string_view line = text.substr(2, text.find('\n') - 2);
    about += about.empty() ? "" : " ";
    about += line;
    text.remove_prefix(std::min(text.size(), line.size() + 3));
  }
  return about;
}

Config preset_config(std::string_view name) {
  ConfigBuilder builder;
  builder.add_preset(name);
  builder.refuse_faults();
  return builder.values();
}

int64_t nominal_vocabulary(std::string_view preset) {
  const Config config = preset_config(preset);
  if (config.data.vocabulary > 0) return config.data.vocabulary;
  if (preset == "tiny-gpt-abc") return 3;            // a, b, c
  if (preset.starts_with("shakespeare")) return 65;  // tinyshakespeare's characters
  return 27;                                         // names: a to z, and the token between two names
}

}  // namespace tril
