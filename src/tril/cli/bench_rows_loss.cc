// Rows of the time to a loss: training until an evaluation reaches it, evaluations not counted.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tril/base/clock.h"
#include "tril/base/error.h"
#include "tril/cli/bench_rows.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril::cli {
namespace {

// Nats a character on tinyshakespeare's tail. nanoGPT's README gives it after 2,000 steps, as an estimate
// over 20 batches; over the whole tail they end at 1.898 (shakespeare-char --seed 0), so the same recipe is
// given 2,500.
constexpr double kLoss = 1.88;
constexpr int kSeeds = 3;

struct Recipe {
  const char* name;
  std::vector<std::string> settings;
  int64_t every;  // steps between evaluations
  double goal;    // seconds
};

struct Reached {
  double seconds = 0, first_loss = 0, loss = 0;
};

Reached train_until(const Config& config, const Corpus& corpus, int64_t every) {
  Trainer trainer(config, corpus);
  Reached reached;
  for (int64_t step = 1; step <= config.train.steps; ++step) {
    const double start = steady_seconds();
    const double loss = trainer.step().loss;
    reached.seconds += steady_seconds() - start;
    if (step == 1) reached.first_loss = loss;
    if (step % every != 0) continue;
    reached.loss = trainer.evaluate(corpus.validation()).value().loss();
    if (reached.loss <= kLoss) return reached;
  }
  refuse("bench peers: {} steps end at a validation loss of {:.3f}, above {}: is this tinyshakespeare.txt?",
         config.train.steps, reached.loss, kLoss);
}

BenchRow row_of(const PeerSettings& settings, const Recipe& recipe) {
  BenchRow row{recipe.name, "runs/min", {}, {}};
  row.rounds = 1;
  row.prepare = [recipe, path = settings.shakespeare]() -> Round {
    auto corpus = std::make_shared<Corpus>();
    std::vector<Config> configs;
    for (int seed = 0; seed < kSeeds; ++seed) {
      ConfigBuilder builder;
      builder.add_preset("shakespeare-char");
      builder.set("data.path=" + path);
      builder.set(fmt::format("train.seed={}", seed));
      for (const std::string& setting : recipe.settings) builder.set(setting);
      configs.push_back(builder.finish());
    }
    CorpusOptions quiet;
    quiet.announce = false;
    *corpus = build_corpus(configs.front().data, quiet);
    for (Config& config : configs) config.model.vocab_size = corpus->tokenizer->vocab_size();
    return [recipe, configs, corpus] {
      std::vector<Reached> all;
      for (const Config& config : configs) all.push_back(train_until(config, *corpus, recipe.every));
      Timed timed;
      timed.first_loss = all.front().first_loss, timed.last_loss = all.front().loss;
      std::sort(all.begin(), all.end(),
                [](const Reached& a, const Reached& b) { return a.seconds < b.seconds; });
      timed.rate = 60 / all[kSeeds / 2].seconds;
      return timed;
    };
  };
  const Round limit = [goal = recipe.goal] { return Timed{60 / goal}; };
  row.contests = {{fmt::format("{} s, median of {} seeds", recipe.goal, kSeeds), 1, {{"", {}, limit}}, ""}};
  return row;
}

}  // namespace

std::vector<BenchRow> loss_rows(const PeerSettings& settings) {
  const Recipe nano{"shakespeare-to-1.88", {"train.steps=2500"}, 100, 45},
      modern{"shakespeare-to-1.88-modern", {"train.recipe=modern", "train.steps=400"}, 25, 15};
  std::vector<BenchRow> rows;
  for (const Recipe& recipe : {nano, modern}) {
    if (settings.shakespeare.empty()) {
      BenchRow row{recipe.name, "runs/min", {}, {}};
      row.contests = {no_contest("time to a loss", "no text: --shakespeare FILE names tinyshakespeare.txt")};
      rows.push_back(row);
      continue;
    }
    rows.push_back(row_of(settings, recipe));
    const std::vector<std::string> words = {
        "--work",  "shakespeare-char",      "--data", settings.shakespeare, "--steps", "2500",
        "--until", fmt::format("{}", kLoss)};
    Contest pytorch =
        script_contest(settings, "PyTorch, nanoGPT's recipe, seed 0", recipe.every == nano.every ? 1.5 : 5,
                       "train_torch.py", {{"eager", words}});
    if (recipe.every != nano.every) pytorch.first_limit = pytorch.last_limit = 1;  // another model's losses
    rows.back().contests.push_back(pytorch);
  }
  return rows;
}

}  // namespace tril::cli
