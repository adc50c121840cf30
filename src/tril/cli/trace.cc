// tril trace: every named value of one prediction, and the likeliest next tokens.
#include "tril/explore/trace.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
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

Json tokens_json(const TracedText& text) {
  Json all = Json::array();
  const size_t end = text.ids.size() - static_cast<size_t>(text.filling);
  for (size_t i = 0; i < end; ++i) all.push_back({{"id", text.ids[i]}, {"text", text.tokens[i]}});
  return all;
}

Json next_json(const TracedText& text) {
  Json all = Json::array();
  for (const Alternative& token : text.next)
    all.push_back({{"id", token.id}, {"text", token.text}, {"probability", token.probability}});
  return all;
}

// What belongs to a text stands in lists with an entry for each.
Json to_json(const Trace& traced, const LoadedRun& run) {
  Json document = {{"run", run.path}, {"step", run.step}};
  for (const char* field : {"texts", "tokens", "padding", "filling", "unknown", "next"})
    document[field] = Json::array();
  for (const TracedText& text : traced.texts) {
    document["texts"].push_back(text.text);
    document["tokens"].push_back(tokens_json(text));
    document["padding"].push_back(text.padding);
    document["filling"].push_back(text.filling);
    document["unknown"].push_back(text.unknown);
    document["next"].push_back(next_json(text));
  }
  Json values = Json::object();
  for (const TracedValue& value : traced.values)
    values[value.name] = value_json(value.name, value.shape, value.data);
  document["values"] = std::move(values);
  return document;
}

std::string next_text(const Trace& traced) {
  std::string text;
  for (size_t i = 0; i < traced.texts.size(); ++i) {
    text += traced.texts.size() > 1 ? fmt::format("\nwhat comes next, text {}\n", i + 1)
                                    : std::string("\nwhat comes next\n");
    Table table({"token", "probability"});
    for (const Alternative& token : traced.texts[i].next)
      table.row({token_label(token.text), fmt::format("{:.4f}", token.probability)});
    text += table.text();
  }
  return text;
}

std::string to_text(const Trace& traced) {
  std::vector<std::string> stages;
  std::vector<RowNames> names;
  for (const TracedValue& value : traced.values)
    if (stage_exists(Route::kInference, value.name)) stages.push_back(value.name);
  for (const TracedText& text : traced.texts) names.push_back({text.tokens, text.padding, text.filling});
  std::string text = route_text(Route::kInference, stages) + "\n";
  for (size_t i = 0; i < traced.texts.size(); ++i) {
    const TracedText& seen = traced.texts[i];
    const int64_t tokens = static_cast<int64_t>(seen.ids.size()) - seen.padding - seen.filling;
    text += fmt::format("text {}: {} token{}", i + 1, tokens, tokens == 1 ? "" : "s");
    if (seen.padding > 0)
      text += fmt::format(", with {} places of padding before them (not shown)", seen.padding);
    text += "\n";
  }
  for (const TracedValue& value : traced.values)
    text += "\n" + value_text(value.name, value.shape, value.data, names);
  return text + next_text(traced);
}

void print_list(const Trace& traced, bool json) {
  Table table({"value", "shape"});
  Json values = Json::object();
  for (const TracedValue& value : traced.values) {
    table.row({value.name, value.shape.text()});
    values[value.name] = {{"shape", value_json(value.name, value.shape, {})["shape"]}};
  }
  if (json)
    print_json({{"values", values}});
  else
    print(table.text());
}

int run_trace(const Asked& asked, const Common& common) {
  if (asked.texts.empty() && !asked.list)
    refuse("--text TEXT is missing; --list names the values without one");
  LoadedRun run = load_run(asked.run, asked.step, overrides(common));
  use_specials(run, asked.specials);
  std::vector<std::string> texts;
  for (const std::string& text : asked.texts) texts.push_back(text_or_input(run, text));
  // the names are the same for any text; one token will do
  if (texts.empty())
    texts.push_back(run.begins_with_bos ? "" : run.tokenizer->decode(std::vector<int32_t>{0}));
  const Trace traced =
      trace(run, texts, {.names = asked.names, .top = asked.top.value_or(5), .numbers = !asked.list});
  if (asked.list)
    print_list(traced, common.json);
  else if (common.json)
    print_json(to_json(traced, run));
  else
    print(to_text(traced));
  return kExitDone;
}

}  // namespace

Action declare_trace(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.word("RUN", asked->run, "the run's folder");
  options.texts("--text", "TEXT", asked->texts, "what stands before the prediction; several make a batch");
  options.texts("--value", "NAME", asked->names, "only this value (weights: those of every block)");
  options.integer("--top", asked->top, 1, 1000, "how many next tokens (default: 5)");
  options.flag("--list", asked->list, "names and shapes alone");
  at_option(options, asked->step);
  specials_option(options, asked->specials);
  options.remark("The numbers are cut to three places and wide rows shortened; --json has all of them.");
  return [asked](const Common& common) { return run_trace(*asked, common); };
}

}  // namespace tril::cli
