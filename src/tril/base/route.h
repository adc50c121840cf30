// The route: the one map of what the program does, from text to checkpoint and from prompt to stop. Folders,
// docs, traced names and pictures follow it. What it leaves out: doing any of it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tril {

enum class Route { kTraining, kInference };

/// The stages in order, by the name that is printed ("text", "tokens", "Q,K,V", …).
const std::vector<std::string>& route_stages(Route route);

/// Indices of the stages that `names` speak of, in the map's order. A name is a stage ("weights"), one that
/// `trace` prints ("masked_scores", "contextual", "blocks.3.weights"), or "position". Throws Refusal with the
/// nearest name.
std::vector<size_t> find_stages(Route route, std::span<const std::string> names);

/// True where find_stages knows the name.
bool stage_exists(Route route, const std::string& name);

struct RouteStyle {
  bool unicode = true;  // arrows as U+2192, else "->"
  bool colour = false;  // lit stages in bold
  size_t width = 100;   // columns of a line
};

/// The map as lines of text; lit stages (indices) stand in square brackets.
std::string draw_route(Route route, std::span<const size_t> lit, const RouteStyle& style);

}  // namespace tril
