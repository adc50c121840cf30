// tril demo: the whole way once, in plain words: a head worked by hand, a corpus, two models trained and held
// against baselines, checks on what was trained, text from it. What it leaves out: anything the other
// commands can't do.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tril/base/chart.h"
#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/table.h"
#include "tril/check/check.h"
#include "tril/check/hand_worked.h"
#include "tril/cli/commands.h"
#include "tril/cli/output.h"
#include "tril/cli/request.h"
#include "tril/cli/run_options.h"
#include "tril/cli/values.h"
#include "tril/data/baselines.h"
#include "tril/data/corpus.h"
#include "tril/data/tales.h"
#include "tril/generate/generate.h"
#include "tril/train/run_folder.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPrompt = "once upon a time";

// One model of the demo: its configuration, its run and what training told.
struct Trained {
  std::string name, path;
  Json result;
};

// The demo talks on standard output; under --json nothing but the document goes there.
class Teller {
 public:
  explicit Teller(bool silent) : silent_(silent) {}
  void say(std::string_view text) const {
    if (silent_) return;
    print(text);
    print("\n");
    flush();
  }
  void title(std::string_view text) { say(fmt::format("\n{}. {}\n", ++number_, text)); }

 private:
  bool silent_;
  int number_ = 0;
};

Config config_of(const std::string& preset, const Common& common) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  use_data(builder, "tales");
  use_common(builder, common);
  return builder.finish();
}

std::vector<CheckRow> by_hand(Teller& teller) {
  teller.title("One attention head, worked by hand");
  teller.say(
      "Four tokens, each a row of three numbers. The head asks (Q), offers (K) and hands over (V). A score "
      "is a\n"
      "question times an offer; what lies in the future is masked; softmax turns each row into weights.\n");
  teller.say(route_text(Route::kTraining, {"X", "Q", "scores", "masked_scores", "weights", "messages"}));
  const HandWorked worked = check_hand_worked();
  for (const HandWorkedValue& value : worked.values)
    if (value.name == "X" || value.name == "masked_scores" || value.name == "weights" ||
        value.name == "messages")
      teller.say(value_text(value.name, value.shape, value.data));
  const auto passed = std::count_if(worked.checks.begin(), worked.checks.end(),
                                    [](const CheckRow& row) { return row.passed; });
  teller.say(fmt::format(
      "Above the diagonal the weights are exactly 0: no token sees the future. {} of {} checks agree with\n"
      "the numbers worked out with pencil and paper; tril check hand-worked shows them all.",
      passed, worked.checks.size()));
  return worked.checks;
}

void tell_corpus(Teller& teller, const Corpus& corpus) {
  teller.title("A text to learn from");
  teller.say("The built-in tales are made by a seeded grammar, so nothing has to be fetched. One of them:\n");
  teller.say("    " + tale(0, 0).text.substr(0, 240) + " ...\n");
  teller.say("What all of them hold. Training never sees the validation and test parts:\n");
  teller.say(audit_text(corpus.audit));
}

Trained train_one(Teller& teller, const std::string& preset, const std::string& words, const Common& common) {
  const Config config = config_of(preset, common);
  teller.say(words);
  RunFolder folder = RunFolder::create_default("demo-" + preset);
  Trained trained = {preset, folder.path(), train_run(folder, config, loop_options())};
  teller.say(fmt::format("{}: validation loss {:.3f}, perplexity {:.1f}, in {:.1f} s; saved in {}\n", preset,
                         trained.result["validation_loss"].get<double>(),
                         trained.result["validation_perplexity"].get<double>(),
                         trained.result["seconds"]["total"].get<double>(), trained.path));
  return trained;
}

ChartSeries curve(const Trained& trained, const std::string& name, const char* field) {
  ChartSeries series{name, {}};
  for (const Json& point : trained.result["trace"])
    if (point[field].is_number())
      series.points.emplace_back(point["tokens_seen"].get<double>(), point[field].get<double>());
  return series;
}

void tell_curves(Teller& teller, const Trained& head, const Trained& mlp, const BaselineLosses& baselines) {
  const std::vector<ChartSeries> curves = {curve(head, "one head, training batch", "train_batch_loss"),
                                           curve(head, "one head, validation", "validation_loss"),
                                           curve(mlp, "window MLP, training batch", "train_batch_loss"),
                                           curve(mlp, "window MLP, validation", "validation_loss")};
  ChartOptions options;
  options.title = "loss";
  options.x_label = "targets seen";
  options.height = 18;
  options.unicode = unicode_terminal(STDOUT_FILENO);
  teller.say(chart(
      curves, {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}, {"bigram", baselines.bigram}},
      options));
  Table table({"on the validation part", "loss", "perplexity"});
  const auto row = [&](const std::string& name, double loss) {
    table.row({name, fmt::format("{:.3f}", loss), fmt::format("{:.1f}", std::exp(loss))});
  };
  row("uniform: every word alike", baselines.uniform);
  row("unigram: how common a word is", baselines.unigram);
  row("bigram: the word before", baselines.bigram);
  row("window MLP: eight words", mlp.result["validation_loss"]);
  row("one head: twelve words", head.result["validation_loss"]);
  teller.say(table.text());
}

std::vector<CheckRow> tell_checks(Teller& teller, const LoadedRun& run, const Corpus& corpus) {
  teller.title("Is it right?");
  teller.say("The same checks on the head that was just trained (tril check RUN):\n");
  CheckSubject subject = {run.config, &corpus, run.model.get(),
                          fmt::format("{}, step {}", run.path, run.step)};
  const std::vector<CheckRow> rows = check_model(subject);
  Table table({"check", "result", "value", "limit"});
  for (const CheckRow& row : rows)
    table.row({row.name, row.passed ? "passed" : "FAILED", fmt::format("{:.3g}", row.value),
               fmt::format("{:.3g}", row.limit)});
  teller.say(table.text());
  return rows;
}

Json tell_samples(Teller& teller, const LoadedRun& run) {
  teller.title("It writes");
  Json all = Json::array();
  for (const double temperature : {0.5, 1.0}) {
    GenerateOptions options;
    options.rules.temperature = temperature;
    options.max_new_tokens = 40;
    options.seed = 8;
    const std::string text = generate(run, kPrompt, options).text;
    teller.say(fmt::format("temperature {}: {}\n", temperature, text));
    all.push_back({{"temperature", temperature}, {"text", text}});
  }
  return all;
}

Json baselines_json(const BaselineLosses& losses) {
  return {{"uniform", losses.uniform},
          {"unigram", losses.unigram},
          {"bigram", losses.bigram},
          {"targets", losses.targets}};
}

int demo(const Common& common) {
  Teller teller(common.json);
  teller.say("tril shows how a language model works: nothing here is to be taken on faith.");
  std::vector<CheckRow> checks = by_hand(teller);

  CorpusOptions corpus_options;
  corpus_options.announce = false;
  const Corpus corpus = build_corpus(config_of("one-head-smoke", common).data, corpus_options);
  tell_corpus(teller, corpus);

  teller.title("Two models learn to foresee the next word");
  const Trained head = train_one(teller, "one-head-smoke", "One causal head over twelve words:", common);
  const Trained mlp = train_one(teller, "window-mlp",
                                "The same task without attention, eight word vectors side by side:", common);
  const Baselines counted(documents_of(corpus.train()), corpus.tokenizer->vocab_size());
  const BaselineLosses baselines = counted.losses(documents_of(corpus.validation()));
  tell_curves(teller, head, mlp, baselines);

  const LoadedRun run = load_run(head.path, std::nullopt, overrides(common));
  const std::vector<CheckRow> more = tell_checks(teller, run, corpus);
  checks.insert(checks.end(), more.begin(), more.end());
  const Json samples = tell_samples(teller, run);
  teller.title("What to try next");
  teller.say(
      fmt::format("    tril trace {0} --text \"{1}\"        every number of one prediction\n"
                  "    tril generate {0} --prompt \"{1}\" --top 3\n"
                  "    tril train my.txt                                   your own text\n"
                  "    tril presets                                        larger models\n",
                  head.path, kPrompt));
  const bool passed =
      std::all_of(checks.begin(), checks.end(), [](const CheckRow& row) { return row.passed; });
  if (common.json) {
    Json rows = Json::array();
    for (const CheckRow& row : checks)
      rows.push_back({{"name", row.name},
                      {"passed", row.passed},
                      {"value", row.value},
                      {"limit", row.limit},
                      {"what", row.what}});
    print_json({{"passed", passed},
                {"checks", rows},
                {"baselines", baselines_json(baselines)},
                {"runs", {head.result, mlp.result}},
                {"samples", samples}});
  }
  return passed ? kExitDone : kExitCheckFailed;
}

}  // namespace

Action declare_demo(Options& options) {
  options.remark("It takes a minute or two, needs no network, and leaves two runs in runs/.");
  return demo;
}

}  // namespace tril::cli
