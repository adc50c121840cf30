// tril trace: every named value of one prediction, and the most likely next tokens.
#include "tril/explore/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/quote.h"
#include "tril/base/route.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"
#include "tril/cli/values.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  std::string run;
  std::vector<std::string> texts, names;
  std::optional<int64_t> top, step;
  bool list = false;
  bool specials = false;
};

// "weights" means every value of that name, in any block.
bool wanted(const std::string& name, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& each) {
           return name == each || name.ends_with("." + each);
         });
}

void require_known(const Trace& traced, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const TracedValue& value : traced.values) known.push_back(value.name);
  for (const std::string& name : names)
    if (std::none_of(known.begin(), known.end(),
                     [&](const std::string& each) { return wanted(each, {name}); }))
      refuse("there is no value {}{}; tril trace RUN --list names them", in_quotes(name),
             nearest_hint(name, known));
}

Json next_json(const std::vector<Alternative>& next) {
  Json all = Json::array();
  for (const Alternative& other : next)
    all.push_back({{"id", other.id}, {"text", other.text}, {"probability", other.probability}});
  return all;
}

Json to_json(const Trace& traced, const Asked& asked) {
  Json values = Json::object();
  for (const TracedValue& value : traced.values)
    if (wanted(value.name, asked.names)) values[value.name] = value_json(value.name, value.shape, value.data);
  Json next = Json::array();
  for (const auto& each : traced.next) next.push_back(next_json(each));
  return {{"tokens", traced.tokens}, {"values", std::move(values)}, {"next", std::move(next)}};
}

// Rows of weights and scores are queries and their columns keys; of all else with a row for each token, the
// rows are.
std::string shown(const TracedValue& value, const std::vector<std::string>& tokens) {
  const auto length = static_cast<int64_t>(tokens.size());
  const bool rows = value.shape.rank() >= 2 && value.shape[value.shape.rank() - 2] == length;
  const std::string last = value.name.substr(value.name.rfind('.') + 1);
  const bool columns = last == "weights" || last == "scores" || last == "masked_scores";
  using Names = std::span<const std::string>;
  return value_text(value.name, value.shape, value.data, rows ? Names(tokens) : Names(),
                    columns && value.shape.cols() == length ? Names(tokens) : Names());
}

std::string to_text(const Trace& traced, const Asked& asked) {
  std::string text;
  for (const TracedValue& value : traced.values)
    if (wanted(value.name, asked.names)) text += shown(value, traced.tokens.front()) + "\n";
  for (size_t i = 0; i < traced.next.size(); ++i) {
    text += traced.next.size() > 1 ? fmt::format("next, text {}\n", i + 1) : "next\n";
    Table table({"token", "probability"});
    for (const Alternative& other : traced.next[i])
      table.row({other.text, fmt::format("{:.4f}", other.probability)});
    text += table.text();
  }
  return text;
}

// The stages of the route that the shown values belong to.
std::vector<std::string> stages_of(const Trace& traced, const Asked& asked) {
  std::vector<std::string> stages;
  for (const TracedValue& value : traced.values)
    if (wanted(value.name, asked.names) && stage_exists(Route::kInference, value.name))
      stages.push_back(value.name);
  return stages;
}

int list(const Trace& traced, bool json) {
  if (json) {
    Json all = Json::array();
    for (const TracedValue& value : traced.values)
      all.push_back({{"name", value.name}, {"shape", value.shape.text()}});
    print_json({{"values", all}});
    return kExitDone;
  }
  Table table({"value", "shape"});
  for (const TracedValue& value : traced.values) table.row({value.name, value.shape.text()});
  print(table.text());
  return kExitDone;
}

int run_trace(const Asked& asked, const Common& common) {
  if (asked.texts.empty() && !asked.list)
    refuse("--text TEXT is missing; --list names the values without one");
  LoadedRun run = load_run(asked.run, asked.step, overrides(common));
  use_specials(run, asked.specials);
  std::vector<std::string> texts;
  for (const std::string& text : asked.texts) texts.push_back(text_or_input(text));
  // the names and shapes are the same for any text; one token will do
  if (texts.empty())
    texts.push_back(run.begins_with_bos ? "" : run.tokenizer->decode(std::vector<int32_t>{0}));
  const Trace traced = trace(run, texts, asked.top.value_or(5));
  require_known(traced, asked.names);
  if (asked.list) return list(traced, common.json);
  if (common.json)
    print_json(to_json(traced, asked));
  else
    print(route_text(Route::kInference, stages_of(traced, asked)) + "\n" + to_text(traced, asked));
  return kExitDone;
}

}  // namespace

Action declare_trace(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.texts("--text", "TEXT", asked->texts, "what comes before the prediction; several make a batch");
  options.texts("--value", "NAME", asked->names, "only this value (weights: those of every block)");
  options.integer("--top", asked->top, 1, 1000, "how many next tokens (default: 5)");
  options.flag("--list", asked->list, "names and shapes alone");
  at_option(options, asked->step);
  specials_option(options, asked->specials);
  return [asked](const Common& common) { return run_trace(*asked, common); };
}

}  // namespace tril::cli
