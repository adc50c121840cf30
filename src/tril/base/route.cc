// The route's stages, their other names, and the drawing.
#include "tril/base/route.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"

namespace tril {
namespace {

const std::vector<std::string> kTrainingStages = {
    "text",        "tokens",    "ids",           "windows", "embedding + position",
    "Q,K,V",       "scores",    "masked scores", "weights", "messages",
    "W_O updates", "residual",  "hidden",        "logits",  "loss",
    "backward",    "optimizer", "checkpoint"};
const std::vector<std::string> kInferenceStages = {
    "prompt",   "ids",           "window",        "embedding + position",
    "Q,K,V",    "scores",        "masked scores", "weights",
    "messages", "W_O updates",   "residual",      "hidden",
    "logits",   "probabilities", "choose",        "append",
    "stop"};

// Names that trace prints, and plain words for the same stage.
const std::map<std::string, std::string, std::less<>> kOtherNames = {{"embedding", "embedding + position"},
                                                                     {"position", "embedding + position"},
                                                                     {"X", "embedding + position"},
                                                                     {"Q", "Q,K,V"},
                                                                     {"K", "Q,K,V"},
                                                                     {"V", "Q,K,V"},
                                                                     {"masked_scores", "masked scores"},
                                                                     {"updates", "W_O updates"},
                                                                     {"contextual", "residual"},
                                                                     {"window", "windows"},
                                                                     {"windows", "window"}};

std::string stage_name(std::string_view name) {
  // blocks.3.weights speaks of weights
  if (name.starts_with("blocks.")) name.remove_prefix(name.rfind('.') + 1);
  return std::string(name);
}

std::optional<size_t> find_stage(Route route, const std::string& name) {
  const std::vector<std::string>& stages = route_stages(route);
  auto at = std::find(stages.begin(), stages.end(), stage_name(name));
  if (at == stages.end()) {
    const auto other = kOtherNames.find(stage_name(name));
    if (other != kOtherNames.end()) at = std::find(stages.begin(), stages.end(), other->second);
  }
  if (at == stages.end()) return std::nullopt;
  return static_cast<size_t>(at - stages.begin());
}

}  // namespace

const std::vector<std::string>& route_stages(Route route) {
  return route == Route::kTraining ? kTrainingStages : kInferenceStages;
}

std::vector<size_t> find_stages(Route route, std::span<const std::string> names) {
  std::vector<size_t> found;
  for (const std::string& name : names) {
    const std::optional<size_t> at = find_stage(route, name);
    if (!at) {
      std::vector<std::string> known = route_stages(route);
      for (const auto& [alias, stage] : kOtherNames)
        if (stage_exists(route, alias)) known.push_back(alias);
      refuse("{} is no stage of the {} route{}", in_quotes(name),
             route == Route::kTraining ? "training" : "inference", nearest_hint(name, known));
    }
    found.push_back(*at);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool stage_exists(Route route, const std::string& name) {
  return find_stage(route, name).has_value();
}

std::string draw_route(Route route, std::span<const size_t> lit, const RouteStyle& style) {
  const std::vector<std::string>& stages = route_stages(route);
  const std::string label = route == Route::kTraining ? "training" : "inference";
  const std::string indent(label.size() + 4, ' ');
  std::string all = label + "    ";
  size_t column = all.size();
  for (size_t i = 0; i < stages.size(); ++i) {
    const bool on = std::find(lit.begin(), lit.end(), i) != lit.end();
    const std::string word = on ? "[" + stages[i] + "]" : stages[i];
    const size_t arrow = i == 0 ? 0 : (style.unicode ? 3 : 4);
    if (i > 0 && column + arrow + word.size() > style.width) {
      all += "\n" + indent;
      column = indent.size();
    }
    if (i > 0)
      all += column == indent.size() ? (style.unicode ? "→ " : "-> ") : (style.unicode ? " → " : " -> ");
    column += arrow + word.size();
    all += on && style.colour ? "\x1b[1m" + word + "\x1b[0m" : word;
  }
  return all + "\n";
}

}  // namespace tril
