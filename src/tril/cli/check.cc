// tril check: nothing taken on faith. The hand-worked example, or the checks on a preset's or a run's model.
#include "tril/check/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/check/hand_worked.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/cli/values.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

bool all_passed(const std::vector<CheckRow>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.passed; });
}

std::string rows_text(const std::vector<CheckRow>& rows) {
  Table table({"check", "result", "value", "limit", "what"});
  for (const CheckRow& row : rows)
    table.row({row.name, row.passed ? "passed" : "FAILED", fmt::format("{:.3g}", row.value),
               fmt::format("{:.3g}", row.limit), row.what});
  const auto failed =
      std::count_if(rows.begin(), rows.end(), [](const CheckRow& row) { return !row.passed; });
  return table.text() +
         fmt::format("\n{} passed, {} failed\n", static_cast<long>(rows.size()) - failed, failed);
}

int finish(const std::vector<CheckRow>& rows, const Json& values, const std::string& head, bool json) {
  if (json) {
    Json document = {{"passed", all_passed(rows)}, {"checks", checks_json(rows)}};
    if (!values.is_null()) document["values"] = values;
    print_json(document);
  } else {
    print(head + rows_text(rows));
  }
  return all_passed(rows) ? kExitDone : kExitCheckFailed;
}

int check_example(const Common& common) {
  const HandWorked worked = check_hand_worked();
  Json values = Json::object();
  std::string text = route_text(Route::kTraining, {"X", "Q", "scores", "masked_scores", "weights", "messages",
                                                   "updates", "contextual"}) +
                     "\n";
  for (const HandWorkedValue& value : worked.values) {
    values[value.name] = value_json(value.name, value.shape, value.data);
    text += value_text(value.name, value.shape, value.data);
    text += value.worst > 0
                ? fmt::format("  largest difference to the known numbers: {:.2g}\n\n", value.worst)
                : "\n";
  }
  return finish(worked.checks, values, text, common.json);
}

int check_subject(const CheckSubject& subject, const Common& common) {
  const std::vector<CheckRow> rows =
      check_model(subject, [](const std::string& check) { log::note("checking {}", check); });
  return finish(rows, {}, subject.of + "\n\n", common.json);
}

// A preset is checked with fresh weights, on tales.
int check_preset(const std::string& name, const Common& common) {
  ConfigBuilder builder;
  builder.add_preset(name);
  use_data(builder, "tales");
  builder.set_flag("--seed", "train.seed", std::to_string(common.seed.value_or(11)));
  Common rest = common;
  rest.seed.reset();
  use_common(builder, rest);
  Config config = builder.finish();
  CorpusOptions options;
  options.document_bounds = config.train.batches == "documents";
  const Corpus corpus = build_corpus(config.data, options);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const std::unique_ptr<Model> model = fresh_model(config);
  return check_subject({config, &corpus, model.get(),
                        fmt::format("{} on tales, fresh weights of seed {}", name, config.train.seed)},
                       common);
}

// The text that a run is checked on: its own; an imported one has none, and takes the tales.
std::string text_of(const LoadedRun& run) {
  const DataSettings& data = run.config.data;
  if (!data.path.empty()) return data.path;
  return data.text.empty() ? "tales" : "its own text";
}

// A run is checked with its own weights.
int check_run(const std::string& path, const Common& common) {
  const LoadedRun run = load_run(path, std::nullopt, overrides(common));
  const Corpus corpus = open_corpus(run, false);
  const std::string& from = run.config.train.from;
  const bool drawn = from.empty() && !run.imported;
  const std::string origin = drawn          ? ""
                             : from.empty() ? ", imported (so without a first loss)"
                                            : ", begun from " + from + " (so without a first loss)";
  return check_subject(
      {run.config, &corpus, run.model.get(),
       fmt::format("the weights of {}, step {}{}, on {}", path, run.step, origin, text_of(run)), drawn},
      common);
}

int check(const std::string& what, const Common& common) {
  if (what == "hand-worked") return check_example(common);
  std::vector<std::string> known = preset_names();
  if (std::find(known.begin(), known.end(), what) != known.end()) return check_preset(what, common);
  if (folder_exists(what)) return check_run(what, common);
  known.emplace_back("hand-worked");
  refuse("there is no preset and no run {}{}", in_quotes(what), nearest_hint(what, known));
}

}  // namespace

Action declare_check(Options& options) {
  auto what = std::make_shared<std::string>();
  options.word("hand-worked|PRESET|RUN", *what,
               "the four-token example, a preset with fresh weights, or a run's own");
  options.remark("Exit code 1 where a check fails. A preset is checked on tales with seed 11.");
  return [what](const Common& common) { return check(*what, common); };
}

}  // namespace tril::cli
