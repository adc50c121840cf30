// Rows of training: tril's loop over a preset, without reading, evaluation and saving.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "tril/base/clock.h"
#include "tril/base/file.h"
#include "tril/base/threads.h"
#include "tril/cli/bench_rows.h"
#include "tril/cli/child.h"
#include "tril/data/windows.h"
#include "tril/model/model.h"
#include "tril/ops/gemm.h"
#include "tril/tensor/random.h"
#include "tril/text/char_tokenizer.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril::cli {
namespace {

// The work of a row: a preset, some settings over it, and how its text comes about.
enum class Text { kOwn, kRandomIds, kVillages };
enum class Unit { kTargets, kSteps, kExamples };
struct Training {
  const char* name;
  const char* preset;
  std::vector<std::string> settings;
  Text text;
  int64_t steps;  // of which the first is not timed
  Unit unit = Unit::kTargets;
  int64_t vocabulary = 65;  // of random ids
  int threads = 0;          // 0: as many as are set
};

// What tril trains on, built once for all rounds.
struct Prepared {
  Config config;
  Corpus corpus;
};

std::string villages() {
  return source_folder() + "/tests/parity/villages.txt";
}

std::shared_ptr<Prepared> prepare(const Training& work) {
  ConfigBuilder builder;
  builder.add_preset(work.preset);
  for (const std::string& setting : work.settings) builder.set(setting);
  if (work.text == Text::kVillages) builder.set("data.path=" + villages());
  auto prepared = std::make_shared<Prepared>();
  prepared->config = builder.finish();
  if (work.text == Text::kRandomIds) {
    // the ids that works.py draws
    std::vector<int32_t>& ids = prepared->corpus.parts[0].ids;
    ids.resize(1000000);
    TorchGenerator generator(1);
    generator.randint(ids, 0, work.vocabulary);
    prepared->corpus.parts[0].starts = {0, static_cast<int64_t>(ids.size())};
    prepared->corpus.tokenizer =
        std::make_shared<CharTokenizer>(std::vector<char32_t>{U'a'});  // not asked: the ids are there
    prepared->config.model.vocab_size = work.vocabulary;
  } else {
    CorpusOptions options;
    options.announce = false;
    options.document_bounds = prepared->config.train.batches == "documents";
    prepared->corpus = build_corpus(prepared->config.data, options);
    prepared->config.model.vocab_size = prepared->corpus.tokenizer->vocab_size();
  }
  return prepared;
}

// Runs body with that many threads; 0: as many as are set.
template <class Body>
auto with_threads(int count, const Body& body) {
  const int before = threads();
  if (count > 0) set_threads(count);
  auto result = body();
  set_threads(before);
  return result;
}

// The first step sets up memory; it is not timed, in tril as in the peers.
Timed train(const Training& work, const Prepared& prepared) {
  Trainer trainer(prepared.config, prepared.corpus);
  Timed timed;
  timed.first_loss = timed.last_loss = trainer.step().loss;
  int64_t units = 0;
  const double start = steady_seconds();
  for (int64_t step = 2; step <= work.steps; ++step) {
    const StepResult done = trainer.step();
    units += work.unit == Unit::kTargets ? done.targets
             : work.unit == Unit::kSteps ? 1
                                         : prepared.config.train.batch;
    timed.last_loss = done.loss;
  }
  timed.seconds = steady_seconds() - start;
  timed.rate = static_cast<double>(units) / timed.seconds;
  return timed;
}

BenchRow row_of(const Training& work) {
  const char* unit = work.unit == Unit::kTargets ? "targets/s"
                     : work.unit == Unit::kSteps ? "steps/s"
                                                 : "names/s";
  const auto ready = [work]() -> Round {
    const auto prepared = prepare(work);
    return [work, prepared] { return with_threads(work.threads, [&] { return train(work, *prepared); }); };
  };
  return {work.name, unit, ready, {}};
}

// int32: the vocabulary, ids in a row, then the rows: each context and its target.
std::string write_windows(const Training& work) {
  const std::string path = scratch_file(std::string(work.name) + ".windows");
  const auto prepared = prepare(work);
  const int64_t context = prepared->config.model.context;
  const Windows windows(prepared->corpus.train(), context, kPadId);
  std::vector<int32_t> numbers = {static_cast<int32_t>(prepared->config.model.vocab_size),
                                  static_cast<int32_t>(context + 1)};
  std::vector<int32_t> row(static_cast<size_t>(context));
  for (int64_t t = 0; t < windows.targets(); ++t) {
    const int32_t target = windows.fetch(t, row.data());
    numbers.insert(numbers.end(), row.begin(), row.end());
    numbers.push_back(target);
  }
  write_file_atomically(path,
                        {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int32_t)});
  return path;
}

std::vector<int> thread_counts() {
  return threads() > 1 ? std::vector<int>{1, threads()} : std::vector<int>{1};
}

using Ways = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Every way takes the same first words.
Ways ways_of(const std::vector<std::string>& words, bool compile) {
  Ways ways;
  for (const bool compiled : {false, true}) {
    if (compiled && !compile) continue;
    for (const int count : thread_counts()) {
      std::vector<std::string> all = words;
      all.insert(all.end(), {"--threads", std::to_string(count)});
      if (compiled) all.emplace_back("--compile");
      ways.emplace_back(
          fmt::format("{}, {} thread{}", compiled ? "compiled" : "eager", count, count > 1 ? "s" : ""), all);
    }
  }
  return ways;
}

Contest pytorch(const PeerSettings& settings, const Training& work, double goal,
                const std::vector<std::string>& more) {
  std::vector<std::string> words = {"--work", work.name, "--steps", std::to_string(work.steps)};
  words.insert(words.end(), more.begin(), more.end());
  return script_contest(settings, "PyTorch", goal, "train_torch.py", ways_of(words, settings.compile));
}

Contest jax(const PeerSettings& settings, const Training& work, double goal,
            const std::vector<std::string>& more) {
  Ways ways;
  for (const int count : thread_counts()) {
    std::vector<std::string> words = {"--work", work.name, "--steps", std::to_string(work.steps)};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--threads", std::to_string(count)});
    ways.emplace_back(fmt::format("jit, {} processor{}", count, count > 1 ? "s" : ""), words);
  }
  return script_contest(settings, "JAX", goal, "train_jax.py", ways);
}

// tril with all threads against tril with one, where a step takes long enough to be shared.
Contest one_thread(Training work) {
  if (threads() == 1) return no_contest("tril on one thread", "one thread is all it may use");
  work.threads = 1;
  std::shared_ptr<Prepared> prepared;
  const Round round = [work, prepared]() mutable {
    if (prepared == nullptr) prepared = prepare(work);
    return with_threads(1, [&] { return train(work, *prepared); });
  };
  return {"tril on one thread", 1.7, {{"", {}, round}}, ""};
}

// The matrix products of a step of one-head-smoke and nothing else, one after another on all threads: what a
// step can't go below at the rate of this machine's products.
Contest products(const Training& work) {
  const Config config = [&] {
    ConfigBuilder builder;
    builder.add_preset(work.preset);
    return builder.finish();
  }();
  struct Shape {
    int64_t n, k;
  };
  const int64_t batch = config.train.batch, d = config.model.d_model, hidden = config.model.hidden,
                vocabulary = config.data.vocabulary;
  // W_Q, W_K and W_V at the query's side (decision 009), W_O, hidden layer, vocabulary head
  const std::vector<Shape> layers = {{d, d}, {d, d}, {d, d}, {d, d}, {hidden, d}, {vocabulary, hidden}};
  const auto most = static_cast<size_t>(std::max(batch, hidden) * vocabulary);
  auto x = std::make_shared<std::vector<float>>(most, 0.5f),
       w = std::make_shared<std::vector<float>>(most, 0.5f), y = std::make_shared<std::vector<float>>(most);
  const Round round = [=, steps = work.steps] {
    const double start = steady_seconds();
    for (int64_t step = 0; step < steps; ++step) {
      for (const auto& [n, k] : layers) {
        gemm({Transpose::no, Transpose::yes, batch, n, k}, x->data(), w->data(), y->data());  // y = x Wᵀ
        gemm({Transpose::no, Transpose::no, batch, k, n}, x->data(), w->data(), y->data());   // dx = dy W
        gemm({Transpose::yes, Transpose::no, n, k, batch}, x->data(), w->data(), y->data());  // dW = dyᵀ x
      }
    }
    Timed timed;
    timed.seconds = steady_seconds() - start;
    timed.rate = static_cast<double>(batch * steps) / timed.seconds;
    return timed;
  };
  return {"its matrix products alone", 0.75, {{"", {}, round}}, ""};
}

void add_gpts(const PeerSettings& settings, std::vector<BenchRow>& rows) {
  const Training tiny{"tiny-gpt-abc", "tiny-gpt-abc", {}, Text::kOwn, 500};
  rows.push_back(row_of(tiny));
  rows.back().contests = {pytorch(settings, tiny, 20, {}), jax(settings, tiny, 1.5, {})};
  const Training small{"shakespeare-char", "shakespeare-char", {}, Text::kRandomIds, 100};
  rows.push_back(row_of(small));
  rows.back().contests = {pytorch(settings, small, 2, {}), jax(settings, small, 1.5, {}), one_thread(small)};
  const Training large{"shakespeare-char-6",
                       "shakespeare-char-6",
                       {"train.batch=4", "model.dropout=0", "train.steps=2000"},
                       Text::kRandomIds,
                       8};
  rows.push_back(row_of(large));
  rows.back().contests = {pytorch(settings, large, 1.5, {}), one_thread(large)};
  Training gpt2{"gpt2-124m", "gpt2-124m", {"train.batch=4", "train.block=64"}, Text::kRandomIds, 4};
  gpt2.vocabulary = 50257;
  rows.push_back(row_of(gpt2));
  rows.back().rounds = 3;
  rows.back().contests = {pytorch(settings, gpt2, 1.2, {}), program_contest(settings, "llm.c", 8),
                          one_thread(gpt2)};
}

void add_microgpts(const PeerSettings& settings, std::vector<BenchRow>& rows) {
  Training micro{"microgpt",      "microgpt", {"run.engine=fast", "run.dtype=f32"},
                 Text::kVillages, 1000,       Unit::kSteps};
  micro.threads = 1;
  rows.push_back(row_of(micro));
  // The program in Python takes 100 of the 1,000 steps, so only the first loss is the same.
  Contest python = settings.program("microgpt.py").empty()
                       ? script_contest(settings, "the scalar program in plain Python", 15000, "microgpt.py",
                                        {{"100 of 1,000 steps", {"--data", villages()}}})
                       : program_contest(settings, "microgpt.py", 15000, {"--data", villages()});
  python.last_limit = 10;
  const Round limit = [] { return Timed{1000 / 0.015}; };
  rows.back().contests = {python, {"1,000 steps in 15 ms", 1, {{"", {}, limit}}, ""}};

  for (const char* width : {"16", "64"}) {
    const bool wide = std::string(width) == "64";
    Training work{
        wide ? "microgpt-64" : "microgpt-16", "microgpt-16", {}, Text::kVillages, 1000, Unit::kExamples};
    if (wide) work.settings = {"model.d_model=64", "model.hidden=256"};
    work.threads = 1;
    rows.push_back(row_of(work));
    const std::string suffix = wide ? "-64" : "";
    rows.back().contests = {program_contest(settings, "microgpt-c" + suffix, 6, {"--data", villages()}),
                            program_contest(settings, "microgpt.cpp" + suffix, 6, {"--data", villages()})};
    if (!wide) rows.back().contests.push_back(jax(settings, work, 1.5, {"--data", villages()}));
  }
}

}  // namespace

std::vector<BenchRow> training_rows(const PeerSettings& settings) {
  const Training smoke{"one-head-smoke", "one-head-smoke", {}, Text::kOwn, 300};
  const Training four{"four-heads-64", "four-heads-64", {}, Text::kOwn, 30};
  const Training mlp{"window-mlp", "window-mlp", {}, Text::kOwn, 300};
  std::vector<BenchRow> rows;
  for (const Training& work : {smoke, four, mlp}) {
    const bool asked = settings.only.empty() || std::find(settings.only.begin(), settings.only.end(),
                                                          work.name) != settings.only.end();
    const bool needed = asked && !settings.python.empty();
    const std::vector<std::string> data = {"--data", needed ? write_windows(work) : ""};
    const bool is_mlp = std::string(work.name) == "window-mlp";
    rows.push_back(row_of(work));
    rows.back().contests = {pytorch(settings, work, is_mlp ? 2 : 4, data)};
    if (!is_mlp) rows.back().contests.push_back(jax(settings, work, 1.5, data));
    if (work.name == std::string_view("one-head-smoke")) rows.back().contests.push_back(products(work));
  }
  add_microgpts(settings, rows);
  add_gpts(settings, rows);
  return rows;
}

}  // namespace tril::cli
