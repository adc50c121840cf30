// tril route: the map of what the program does.
#include "tril/base/route.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"

namespace tril::cli {
namespace {

struct Asked {
  std::optional<std::string> which, at;
};

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

int show(const Asked& asked, const Common& common) {
  std::vector<Route> routes = {Route::kTraining, Route::kInference};
  if (asked.which) {
    if (*asked.which != "training" && *asked.which != "inference")
      refuse("there is no route {}; there are training and inference", in_quotes(*asked.which));
    routes = {*asked.which == "training" ? Route::kTraining : Route::kInference};
  }
  const std::vector<std::string> names = split_commas(asked.at.value_or(""));
  auto all = nlohmann::ordered_json::array();
  std::string text;
  for (const Route route : routes) {
    // a stage that only the other route has is no fault where both are shown
    std::vector<std::string> here;
    for (const std::string& name : names) {
      if (routes.size() == 1 || stage_exists(route, name))
        here.push_back(name);
      else if (!stage_exists(routes[route == Route::kTraining ? 1 : 0], name))
        here.push_back(name);
    }
    const std::vector<size_t> lit = find_stages(route, here);
    auto stages = nlohmann::ordered_json::array();
    for (size_t i = 0; i < route_stages(route).size(); ++i)
      stages.push_back(
          {{"name", route_stages(route)[i]}, {"lit", std::find(lit.begin(), lit.end(), i) != lit.end()}});
    all.push_back({{"route", route == Route::kTraining ? "training" : "inference"}, {"stages", stages}});
    text += text.empty() ? "" : "\n";
    text +=
        draw_route(route, lit, {.unicode = utf8_locale(), .colour = log::fancy(STDOUT_FILENO), .width = 100});
  }
  if (common.json)
    print_json({{"routes", all}});
  else
    print(text);
  return kExitDone;
}

}  // namespace

Action declare_route(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.optional_word("training|inference", asked->which, "one of the two (default: both)");
  options.text("--at", "STAGE,...", asked->at,
               "light these stages, by a name here or one that tril trace prints");
  return [asked](const Common& common) { return show(*asked, common); };
}

}  // namespace tril::cli
