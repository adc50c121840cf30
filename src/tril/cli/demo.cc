// tril demo: the whole way once, in plain words: a head worked by hand, the checks, a text, two models
// trained and held against what needs no training, writing. What it leaves out: anything that the other
// commands can't do.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/chart.h"
#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/table.h"
#include "tril/base/typed.h"
#include "tril/check/hand_worked.h"
#include "tril/cli/demo_work.h"
#include "tril/cli/output.h"
#include "tril/cli/run_options.h"
#include "tril/cli/summary.h"
#include "tril/cli/values.h"
#include "tril/data/tales.h"
#include "tril/explore/trace.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPrompt = "once there was a";
constexpr int64_t kSteps = 300;

struct Asked {
  std::optional<std::string> out;
  std::optional<int64_t> steps;
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
  /// A heading, with the stages of the route that it speaks of.
  void part(std::string_view heading, Route route, const std::vector<std::string>& stages) {
    say(fmt::format("\n{}. {}\n", ++number_, heading));
    say(route_text(route, stages));
  }
  void part(std::string_view heading) { say(fmt::format("\n{}. {}\n", ++number_, heading)); }

 private:
  bool silent_;
  int number_ = 0;
};

// Training guards itself and saves its work; all else has nothing to save, and ends cleanly here.
void end_if_interrupted() {
  if (!interrupt::requested()) return;
  const int code = interrupt::exit_code();
  interrupt::clear();
  throw Interrupted(code, "interrupted");
}

// What a check says, for someone who meets it for the first time; the document has its own words.
std::string in_plain_words(const std::string& check) {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"future weight", "the largest weight on a token that comes later"},
      {"row sums", "how far a row of weights is from summing to 1"},
      {"weights by formula", "how far the weights are from softmax worked out apart"},
      {"messages by formula", "how far what comes back is from those weights' mixture of the values"},
      {"causality", "how much later tokens change what was said before"},
      {"last query", "the short way that writes text against the long way that trains"},
      {"order-blind", "without position rows, the order of earlier words can't matter"},
      {"finite", "numbers that are infinite or none at all"},
      {"first loss", "the first loss against that of an even guess, ln V"},
      {"stable softmax", "softmax of huge numbers: how far from summing to 1"},
      {"gradients, small", "gradients against measured slopes, all of a small model's"},
      {"gradients", "the same for a sample of this model's own"},
      {"overfit", "the loss after learning 16 examples by heart"},
  };
  const auto found = words.find(check);
  return found == words.end() ? "difference to the numbers worked by hand" : found->second;
}

void tell_checks(const Teller& teller, const std::vector<CheckRow>& rows) {
  Table table({"check", "value", "limit", "ok", "what is measured"});
  for (const CheckRow& row : rows)
    table.row({row.name, fmt::format("{:.2g}", row.value), fmt::format("{:.2g}", row.limit),
               row.passed ? "yes" : "FAILED", in_plain_words(row.name)});
  teller.say(table.text());
}

// Lines of at most 100 columns, broken at blanks.
std::string wrapped(const std::string& text) {
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (column > 0 && column + 1 + word.size() > 100) {
      out += '\n';
      column = 0;
    }
    if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (end < text.size() && text[end] == '\n') {
      out += '\n';
      column = 0;
    }
    begin = end + 1;
  }
  return out;
}

HandWorked by_hand(Teller& teller) {
  teller.part("One attention head, worked by hand", Route::kTraining,
              {"X", "Q", "scores", "masked_scores", "weights", "messages", "updates", "contextual"});
  teller.say(
      "Four tokens, each a row of three numbers (X). Attention lets each token ask the others for what it\n"
      "needs. Three small tables of weights (W_Q, W_K, W_V) turn a row into a question (Q), an offer (K) "
      "and\n"
      "something to hand over (V). A score is a question times an offer, over the square root of their "
      "width.\n"
      "A token may not look at what comes after it, so those scores are masked; softmax turns what is left\n"
      "of each row into weights that sum to 1.\n");
  const HandWorked worked = check_hand_worked();
  const std::vector<RowNames> names = {{{"0", "1", "2", "3"}, 0}};
  for (const HandWorkedValue& value : worked.values)
    teller.say(value_text(value.name, value.shape, value.data, names));
  teller.say(
      "Above the diagonal the weights are exactly 0: no token sees the future. All of it was worked out "
      "with\n"
      "pencil and paper as well; the program's numbers are held against those:\n");
  tell_checks(teller, worked.checks);
  return worked;
}

std::vector<CheckRow> check_fresh(Teller& teller, const Config& config, const Corpus& corpus) {
  teller.part("Is it right?", Route::kTraining, {"weights", "logits", "loss", "backward", "optimizer"});
  teller.say(
      "Nothing is taken on faith. A head with fresh weights, as it is about to be trained below, is "
      "checked:\n"
      "no look ahead, numbers that stay finite, gradients equal to measured slopes, and the power to learn "
      "a\n"
      "few examples by heart.\n");
  std::vector<CheckRow> rows = demo_checks(config, corpus);
  end_if_interrupted();
  tell_checks(teller, rows);
  return rows;
}

void tell_corpus(Teller& teller, const Corpus& corpus, const std::string& one) {
  teller.part("A text to learn from", Route::kTraining, {"text", "tokens", "ids", "windows"});
  teller.say(
      "The built-in tales are made by a seeded grammar, so nothing has to be fetched. One of them:\n\n" +
      wrapped(one) + "\n");
  teller.say("What all of them hold. Training never sees the validation and test parts:\n");
  teller.say(audit_text(corpus.audit));
}

Json train_one(Teller& teller, RunFolder& folder, const Config& config, const std::string& words) {
  teller.say(words);
  LoopOptions options = loop_options(folder);
  options.begun = nullptr;  // the demo has said where its runs are
  Json result = train_run(folder, config, options);
  teller.say(fmt::format("  validation loss {:.3f}, perplexity {:.1f}, in {:.1f} s; saved in {}\n",
                         result["validation_loss"].get<double>(),
                         result["validation_perplexity"].get<double>(),
                         result["seconds"]["total"].get<double>(), folder.path()));
  return result;
}

ChartSeries curve(const Json& result, const std::string& name, const char* field) {
  ChartSeries series{name, {}};
  for (const Json& point : result["trace"])
    if (point[field].is_number())
      series.points.emplace_back(point["tokens_seen"].get<double>(), point[field].get<double>());
  return series;
}

void tell_curves(Teller& teller, const Json& head, const Json& mlp, const BaselineLosses& baselines) {
  teller.say(
      "The loss is how surprised a model is by the next word, on average; its perplexity is among how many\n"
      "equally likely words it still hesitates. Lower is better. The level lines need no training: every\n"
      "word alike (uniform), how common a word is (unigram), and the word before (bigram).\n");
  ChartOptions options;
  options.title = "loss";
  options.x_label = "targets seen";
  options.height = 18;
  options.unicode = unicode_terminal(STDOUT_FILENO);
  teller.say(chart(
      {curve(head, "head, training", "train_batch_loss"), curve(head, "head, validation", "validation_loss"),
       curve(mlp, "MLP, training", "train_batch_loss"), curve(mlp, "MLP, validation", "validation_loss")},
      {{"uniform", baselines.uniform}, {"unigram", baselines.unigram}, {"bigram", baselines.bigram}},
      options));
  Table table({"on the validation part", "loss", "perplexity"});
  const auto row = [&](const std::string& name, double loss) {
    table.row({name, fmt::format("{:.3f}", loss), fmt::format("{:.1f}", std::exp(loss))});
  };
  row("uniform: every word alike", baselines.uniform);
  row("unigram: how common a word is", baselines.unigram);
  row("bigram: the word before", baselines.bigram);
  row("one head: twelve words, looked at as it learned to", head["validation_loss"]);
  row("window MLP: eight words, each in its place", mlp["validation_loss"]);
  teller.say(table.text());
  if (mlp["validation_loss"] < head["validation_loss"])
    teller.say(
        "The MLP is ahead: the tales are so regular that the few words just before tell most of what "
        "follows,\n"
        "and it has weights for each of them in its place, where one head has a single mixture of twelve.\n"
        "Heads pay off where what matters stands far away or moves about, and when there are many of "
        "them.\n");
}

// Where the last word of the prompt looks.
void tell_glance(Teller& teller, const LoadedRun& run) {
  const std::vector<std::string> texts = {kPrompt};
  const Trace traced = trace(run, texts, {.names = {"weights"}, .top = 3, .numbers = true});
  const TracedText& seen = traced.texts.front();
  const std::vector<double>& weights = traced.values.front().data;
  const size_t length = seen.tokens.size(), last = weights.size() - length;
  Table table({"to foresee what follows, it looks at", "weight"});
  for (auto i = static_cast<size_t>(seen.padding); i < length; ++i)
    table.row({token_label(seen.tokens[i]), fmt::format("{:.3f}", weights[last + i])});
  teller.say(table.text());
  Table next({"and expects", "probability"});
  for (const Alternative& token : seen.next)
    next.row({token_label(token.text), fmt::format("{:.3f}", token.probability)});
  teller.say(next.text());
}

std::vector<DemoSample> tell_samples(Teller& teller, const std::string& run) {
  teller.part("It writes", Route::kInference, {"prompt", "probabilities", "choose", "append"});
  teller.say(fmt::format("The head goes on from \"{}\".\n", kPrompt));
  tell_glance(teller, load_run(run));
  const std::vector<DemoSample> samples = demo_samples(run, kPrompt, 8);
  teller.say(
      "It chooses a word, appends it, and asks itself again. A low temperature keeps to likely words, 1 "
      "takes\n"
      "them as often as the model expects them:\n");
  for (const DemoSample& sample : samples)
    teller.say(fmt::format("temperature {:.1f}:\n{}\n", sample.temperature, wrapped(sample.text)));
  return samples;
}

void tell_next(Teller& teller, const std::vector<DemoCommand>& commands) {
  teller.part("What to try next");
  for (const DemoCommand& command : commands)
    teller.say(fmt::format("    {}\n        {}", typed(command.words), command.about));
  teller.say("");
}

// What comes before training.
struct Ground {
  HandWorked worked;
  Corpus corpus;
  std::vector<CheckRow> checks;  // by hand, then of fresh weights
  std::string tale;
};

Ground tell_ground(Teller& teller, const Config& config) {
  Ground ground;
  ground.worked = by_hand(teller);
  end_if_interrupted();
  CorpusOptions quietly;
  quietly.announce = false;
  ground.corpus = build_corpus(config.data, quietly);
  ground.checks = ground.worked.checks;
  const std::vector<CheckRow> fresh = check_fresh(teller, config, ground.corpus);
  ground.checks.insert(ground.checks.end(), fresh.begin(), fresh.end());
  ground.tale = tale(static_cast<uint64_t>(config.data.seed), 0).text;
  tell_corpus(teller, ground.corpus, ground.tale);
  end_if_interrupted();
  return ground;
}

void tell_beginning(Teller& teller, const RunFolder& head, const RunFolder& mlp) {
  teller.say(fmt::format(
      "tril trains, proves and opens up small language models. This is all of it in small, about a quarter\n"
      "of a minute long; two trained models stay in {} and {}.\n"
      "The map, with the places that a part speaks of in brackets, is always the same:\n\n{}",
      head.path(), mlp.path(), route_text(Route::kTraining, {})));
}

int demo(const Asked& asked, const Common& common) {
  const int64_t steps = asked.steps.value_or(kSteps);
  const std::string root = asked.out.value_or("runs");
  const Config config = demo_config("one-head-smoke", steps, common),
               plain = demo_config("window-mlp", steps, common);
  std::optional<interrupt::Guard> guard(std::in_place);
  RunFolder head_run = RunFolder::create_default("demo-one-head", root),
            mlp_run = RunFolder::create_default("demo-window-mlp", root);
  Teller teller(common.json);
  tell_beginning(teller, head_run, mlp_run);
  const Ground ground = tell_ground(teller, config);
  guard.reset();

  teller.part("Two models learn to foresee the next word", Route::kTraining,
              {"windows", "logits", "loss", "backward", "optimizer", "checkpoint"});
  const Json head = train_one(teller, head_run, config, "One causal head over the last twelve words:");
  const Json mlp = train_one(teller, mlp_run, plain,
                             "The same without attention, the last eight words side by side (window MLP):");
  guard.emplace();
  const BaselineLosses baselines = baselines_of(config, ground.corpus).value();
  tell_curves(teller, head, mlp, baselines);
  const std::vector<DemoSample> samples = tell_samples(teller, head_run.path());
  const std::vector<DemoCommand> commands = demo_commands(head_run.path(), kPrompt, steps);
  tell_next(teller, commands);
  end_if_interrupted();

  const bool passed =
      std::all_of(ground.checks.begin(), ground.checks.end(), [](const CheckRow& row) { return row.passed; });
  if (!passed) teller.say("A check FAILED: see the tables above.");
  if (common.json) {
    Json values = Json::object();
    for (const HandWorkedValue& value : ground.worked.values)
      values[value.name] = value_json(value.name, value.shape, value.data);
    print_json({{"passed", passed},
                {"checks", checks_json(ground.checks)},
                {"values", values},
                {"tale", ground.tale},
                {"audit", audit_json(ground.corpus.audit)},
                {"baselines", demo_json(baselines)},
                {"runs", {{"one-head", head}, {"window-mlp", mlp}}},
                {"samples", demo_json(samples, kPrompt)},
                {"next", demo_json(commands)}});
  }
  return passed ? kExitDone : kExitCheckFailed;
}

}  // namespace

Action declare_demo(Options& options) {
  auto asked = std::make_shared<Asked>();
  options.text("--out", "FOLDER", asked->out, "where the two trained runs go (default: runs)");
  options.integer("--steps", asked->steps, 1, 100000, "updates of each model's weights (default: 300)");
  options.remark(
      "It needs no network and leaves the runs demo-one-head and demo-window-mlp, or demo-one-head-2 and so "
      "on\n"
      "where those exist. Exit 1 where a check fails.");
  return [asked](const Common& common) { return demo(*asked, common); };
}

}  // namespace tril::cli
