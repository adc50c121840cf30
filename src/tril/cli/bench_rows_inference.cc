// Rows of evaluation and generation: GPT-2's loss over a full context, one token after another, a prompt at
// once.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "tril/base/clock.h"
#include "tril/base/memory.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/cli/bench_rows.h"
#include "tril/generate/sampler.h"
#include "tril/model/registry.h"
#include "tril/ops/rows.h"
#include "tril/tensor/draws.h"
#include "tril/tensor/random.h"
#include "tril/train/config.h"
#include "tril/train/evaluation.h"

namespace tril::cli {
namespace {

constexpr int64_t kGpt2Vocabulary = 50257, kLlamaVocabulary = 32000;

std::shared_ptr<Model> drawn(const char* preset, int64_t vocabulary, int64_t context = 0) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  Config config = builder.finish();
  config.model.vocab_size = vocabulary;
  if (context > 0) config.model.context = context;
  std::shared_ptr<Model> model = make_model(config.model, DType::f32);
  TorchGenerator random(static_cast<uint64_t>(config.train.seed));
  model->initialize(random);
  return model;
}

std::vector<int32_t> drawn_ids(int64_t count, int64_t vocabulary) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  TorchGenerator generator(1);
  generator.randint(ids, 0, vocabulary);
  return ids;
}

// The bytes that memory gives in a second, all threads reading.
double read_rate() {
  constexpr int64_t kNumbers = int64_t{1} << 26, kPieces = 64;
  std::vector<float> large;
  large.reserve(kNumbers);
  prefer_large_pages(large.data(), kNumbers * sizeof(float));  // as weights have them
  large.resize(kNumbers, 1.0f);
  std::vector<float> sums(kPieces);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double start = steady_seconds();
    parallel_for(kPieces, [&](int64_t i) {
      sums[static_cast<size_t>(i)] = rows::sum(large.data() + i * (kNumbers / kPieces), kNumbers / kPieces);
    });
    best = std::max(best, static_cast<double>(kNumbers) * sizeof(float) / (steady_seconds() - start));
  }
  return best + 0 * std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Bytes of weights that each new token reads: all but the rows of tables that are only looked up.
double bytes_per_token(const Model& model) {
  const Parameters& p = model.parameters();
  int64_t numbers = 0;
  for (const ParameterInfo& info : p.infos()) {
    const bool looked_up = info.name == "position_embedding.weight" ||
                           (info.name == "token_embedding.weight" && !model.config().tied);
    numbers += looked_up ? 0 : info.shape.count();
  }
  return static_cast<double>(numbers) * sizeof(float);
}

int32_t likeliest(Var logits) {
  const float* first = logits.v<float>();
  return static_cast<int32_t>(std::max_element(first, first + logits.count()) - first);
}

// Tokens one after another behind a prompt, each the likeliest of its logits, one stream.
Timed decode(const Model& model, int64_t count) {
  Tape tape({Engine::fast, DType::f32, false});
  const auto cache = model.make_cache(1, model.config().context);
  std::vector<int32_t> prompt = drawn_ids(8, model.config().vocab_size);
  const auto step = [&](std::vector<int32_t>& ids) {
    tape.reset();
    return likeliest(model.step(tape, {{1, static_cast<int64_t>(ids.size())}, DType::i32, ids.data()}, *cache,
                                Rows::last));
  };
  std::vector<int32_t> next = {step(prompt)};
  next = {step(next)};
  const double start = steady_seconds();
  for (int64_t n = 0; n < count; ++n) next = {step(next)};
  Timed timed;
  timed.seconds = steady_seconds() - start;
  timed.rate = static_cast<double>(count) / timed.seconds;
  return timed;
}

// The same without a cache: the whole text is read for each token.
Timed decode_again(const Model& model, int64_t count) {
  Tape tape({Engine::fast, DType::f32, false});
  std::vector<int32_t> ids = drawn_ids(8, model.config().vocab_size);
  const double start = steady_seconds();
  for (int64_t n = 0; n < count; ++n) {
    tape.reset();
    ids.push_back(likeliest(
        model.forward(tape, {{1, static_cast<int64_t>(ids.size())}, DType::i32, ids.data()}, Rows::last)));
  }
  Timed timed;
  timed.seconds = steady_seconds() - start;
  timed.rate = static_cast<double>(count) / timed.seconds;
  return timed;
}

Timed read_prompt(const Model& model, int64_t length) {
  Tape tape({Engine::fast, DType::f32, false});
  std::vector<int32_t> ids = drawn_ids(length, model.config().vocab_size);
  const auto cache = model.make_cache(1, length);
  Timed timed;
  for (int round = 0; round < 2; ++round) {  // the first sets up memory
    tape.reset();
    cache->rewind(0);
    const double start = steady_seconds();
    model.step(tape, {{1, length}, DType::i32, ids.data()}, *cache, Rows::last);
    timed.seconds = steady_seconds() - start;
  }
  timed.rate = static_cast<double>(length) / timed.seconds;
  return timed;
}

Timed evaluate_block(const Model& model, Tape& tape, const Tokens& tokens) {
  Timed timed;
  const double start = steady_seconds();
  const std::optional<Evaluation> found = evaluate(model, tape, tokens);
  timed.seconds = steady_seconds() - start;
  timed.rate = static_cast<double>(found->targets) / timed.seconds;
  timed.first_loss = timed.last_loss = found->loss();
  return timed;
}

BenchRow evaluation_row(const PeerSettings& settings) {
  BenchRow row{"gpt2-124m-evaluation", "targets/s", {}, {}, 3};
  row.prepare = []() -> Round {
    const auto model = drawn("gpt2-124m", kGpt2Vocabulary);
    const auto tape = std::make_shared<Tape>(TapeOptions{Engine::fast, DType::f32, false});
    const auto tokens = std::make_shared<Tokens>();
    tokens->ids = drawn_ids(1000000, kGpt2Vocabulary);
    tokens->ids.resize(1025);
    tokens->starts = {0, 1025};
    evaluate_block(*model, *tape, *tokens);
    return [=] { return evaluate_block(*model, *tape, *tokens); };
  };
  std::vector<std::pair<std::string, std::vector<std::string>>> ways;
  for (const bool compiled : {false, true}) {
    if (compiled && !settings.compile) continue;
    std::vector<std::string> words = {"--work", "gpt2-124m", "--evaluate", "--threads",
                                      std::to_string(threads())};
    if (compiled) words.emplace_back("--compile");
    ways.emplace_back(fmt::format("{}, {}", compiled ? "compiled" : "eager", counted(threads(), "thread")),
                      words);
  }
  row.contests = {script_contest(settings, "PyTorch", 1.2, "train_torch.py", ways)};
  return row;
}

BenchRow decoding_row(const char* name, const char* preset, int64_t vocabulary, int64_t count) {
  // One model serves the rounds and the bound.
  const auto model = std::make_shared<std::shared_ptr<Model>>();
  const auto get = [=]() -> const Model& {
    if (*model == nullptr) *model = drawn(preset, vocabulary);
    return **model;
  };
  BenchRow row{name, "tokens/s", {}, {}};
  row.prepare = [=]() -> Round {
    get();
    return [=] { return decode(get(), count); };
  };
  const Round bound = [=] { return Timed{read_rate() / bytes_per_token(get())}; };
  row.contests = {{"the weights at the measured read rate", 0.85, {{"", {}, bound}}, ""}};
  return row;
}

// What the cache brings: `count` new tokens with it and without it. Its rate is about the same for few and
// for many.
BenchRow cache_row(int64_t count, double goal) {
  BenchRow row{fmt::format("cache-{}", count), "tokens/s", {}, {}, 3};
  const auto make = [count] { return drawn("shakespeare-char", 65, count + 8); };
  row.prepare = [=]() -> Round { return [=, model = make()] { return decode(*model, count - 2); }; };
  const Round without = [=] { return decode_again(*make(), count); };
  row.contests = {{"itself without the cache", goal, {{"", {}, without}}, ""}};
  return row;
}

Contest llama_cpp(const PeerSettings& settings, const char* model, const char* what, double goal) {
  return script_contest(settings, "llama.cpp", goal, "llama_cpp_rate.py",
                        {{fmt::format("f32, {}", counted(threads(), "thread")),
                          {"--model", model, "--what", what, "--threads", std::to_string(threads())}}});
}

// Names one after another, one stream: each begins behind the begin token with an empty cache, every token is
// drawn, and it ends where that token is drawn again or the context is full. All of it is timed.
Timed draw_names(const Model& model, int64_t count) {
  constexpr int32_t kBegin = 26;
  const SamplingRules rules{.temperature = 0.5};
  Tape tape({Engine::fast, DType::f32, false});
  const auto cache = model.make_cache(1, model.config().context);
  Draws draws(0);
  int32_t id = kBegin;
  const double start = steady_seconds();
  for (int64_t n = 0; n < count; ++n) {
    tape.reset();
    const Var found = model.step(tape, {{1, 1}, DType::i32, &id}, *cache, Rows::last);
    id = draw(found.value().span<float>(), rules, {}, {}, draws.uniform());
    if (cache->room() == 0) id = kBegin;
    if (id == kBegin) cache->rewind(0);
  }
  Timed timed;
  timed.seconds = steady_seconds() - start;
  timed.rate = static_cast<double>(count) / timed.seconds;
  return timed;
}

BenchRow inference_row() {
  BenchRow row{"microgpt-inference", "tokens/s", {}, {}};
  row.prepare = []() -> Round {
    const auto model = drawn("microgpt", 27);
    draw_names(*model, 100);
    return [model] {
      const int before = threads();
      set_threads(1);
      const Timed timed = draw_names(*model, 20000);
      set_threads(before);
      return timed;
    };
  };
  const Round limit = [] { return Timed{4e6}; };
  row.contests = {{"4M tokens/s", 1, {{"", {}, limit}}, ""}};
  return row;
}

}  // namespace

std::vector<BenchRow> inference_rows(const PeerSettings& settings) {
  std::vector<BenchRow> rows = {inference_row(), evaluation_row(settings),
                                decoding_row("decoding-llama-15m", "llama-tiny", kLlamaVocabulary, 200),
                                decoding_row("decoding-gpt2-124m", "gpt2-124m", kGpt2Vocabulary, 24)};
  rows[2].contests.push_back(program_contest(settings, "llama2.c", 1.3));
  rows[2].contests.push_back(llama_cpp(settings, "llama-15m", "decode", 1));
  rows[3].contests.push_back(llama_cpp(settings, "gpt2-124m", "decode", 1));
  BenchRow prompt{"prompt-gpt2-124m", "tokens/s", {}, {llama_cpp(settings, "gpt2-124m", "prompt", 1)}};
  prompt.prepare = []() -> Round {
    const auto model = drawn("gpt2-124m", kGpt2Vocabulary);
    return [model] { return read_prompt(*model, 512); };
  };
  rows.push_back(prompt);
  rows.push_back(cache_row(16, 1));
  rows.push_back(cache_row(512, 10));
  return rows;
}

}  // namespace tril::cli
