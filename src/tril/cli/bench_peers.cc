// Timing tril beside its peers.
#include "tril/cli/bench_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "tril/base/build_info.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/cli/child.h"
#include "tril/data/windows.h"
#include "tril/model/model.h"
#include "tril/tensor/random.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

// The work of a row: a preset, some settings over it, and how its text comes about.
enum class Text { kOwn, kRandomIds, kVillages };
struct Work {
  const char* name;
  std::vector<std::string> settings;
  Text text;
  int64_t vocabulary;  // of random ids
  const char* script;
  std::vector<std::string> words;  // of the script
  const char* against;
  double goal;
  int rounds;
  bool same_seed;  // both draw the same weights and batches, so their losses must agree
};

std::vector<Work> works() {
  const std::string steps = "100";
  return {
      {"one-head-smoke", {}, Text::kOwn, 0, "one_head.py", {"--repeat", "1"}, "PyTorch", 4, 3, true},
      {"tiny-gpt-abc",
       {},
       Text::kOwn,
       0,
       "gpt.py",
       {"tiny-gpt-abc", "--repeat", "1"},
       "PyTorch",
       20,
       3,
       true},
      {"shakespeare-char",
       {"train.steps=2000"},
       Text::kRandomIds,
       65,
       "gpt.py",
       {"shakespeare-char", "--repeat", "1", "--steps", steps},
       "PyTorch",
       2,
       3,
       false},
      {"gpt2-124m",
       {"train.batch=4", "train.block=64"},
       Text::kRandomIds,
       50257,
       "gpt.py",
       {"gpt2-124m", "--repeat", "1", "--steps", "5"},
       "PyTorch",
       1.2,
       2,
       false},
      {"microgpt",
       {"run.engine=fast", "run.dtype=f32"},
       Text::kVillages,
       0,
       "microgpt.py",
       {},
       "plain Python",
       15000,
       2,
       true},
  };
}

struct Timed {
  double rate = 0;  // targets (microgpt: steps) a second
  double first_loss = 0, last_loss = 0;
  std::string how;
};

// What tril trains on, built once for all rounds.
struct Prepared {
  Config config;
  Corpus corpus;
  int64_t steps;
};

std::string villages() {
  return source_folder() + "/tests/parity/villages.txt";
}

Prepared prepare(const Work& work) {
  ConfigBuilder builder;
  builder.add_preset(work.name);
  for (const std::string& setting : work.settings) builder.set(setting);
  if (work.text == Text::kVillages) builder.set("data.path=" + villages());
  Prepared prepared;
  prepared.config = builder.finish();
  if (work.text == Text::kRandomIds) {
    // the ids that gpt.py draws
    std::vector<int32_t>& ids = prepared.corpus.parts[0].ids;
    ids.resize(1000000);
    TorchGenerator generator(1);
    generator.randint(ids, 0, work.vocabulary);
    prepared.corpus.parts[0].starts = {0, static_cast<int64_t>(ids.size())};
    prepared.config.model.vocab_size = work.vocabulary;
  } else {
    CorpusOptions options;
    options.announce = false;
    options.document_bounds = prepared.config.train.batches == "documents";
    prepared.corpus = build_corpus(prepared.config.data, options);
    prepared.config.model.vocab_size = prepared.corpus.tokenizer->vocab_size();
  }
  prepared.steps = prepared.config.train.steps;
  const auto asked = std::find(work.words.begin(), work.words.end(), "--steps");
  if (asked != work.words.end()) prepared.steps = std::stoll(*(asked + 1));
  return prepared;
}

// The first step sets up memory; it is not timed, in tril as in the peers.
Timed time_tril(const Prepared& prepared, bool count_steps) {
  Trainer trainer(prepared.config, prepared.corpus);
  Timed timed;
  timed.first_loss = trainer.step().loss;
  int64_t units = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t step = 2; step <= prepared.steps; ++step) {
    const StepResult done = trainer.step();
    units += count_steps ? 1 : done.targets;
    timed.last_loss = done.loss;
  }
  timed.rate = static_cast<double>(units) /
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timed.how = fmt::format("{} threads", threads());
  return timed;
}

// int32: the vocabulary, ids in a row, then the rows: each context and its target.
void write_windows(const Prepared& prepared, const std::string& path) {
  const int64_t context = prepared.config.model.context;
  const Windows windows(prepared.corpus.train(), context, kPadId);
  std::vector<int32_t> numbers = {static_cast<int32_t>(prepared.config.model.vocab_size),
                                  static_cast<int32_t>(context + 1)};
  std::vector<int32_t> row(static_cast<size_t>(context));
  for (int64_t t = 0; t < windows.targets(); ++t) {
    const int32_t target = windows.fetch(t, row.data());
    numbers.insert(numbers.end(), row.begin(), row.end());
    numbers.push_back(target);
  }
  write_file_atomically(path,
                        {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int32_t)});
}

std::optional<Timed> time_peer(const std::string& python, const Work& work, std::vector<std::string> more,
                               std::string how) {
  std::vector<std::string> words = {python, source_folder() + "/bench/peers/" + work.script};
  words.insert(words.end(), work.words.begin(), work.words.end());
  words.insert(words.end(), more.begin(), more.end());
  const ChildResult result = run_child(words, true);
  const auto line = nlohmann::json::parse(last_line(result.out), nullptr, false);
  if (result.exit_code != 0 || !line.is_object()) return std::nullopt;
  const char* rate = line.contains("targets_per_second") ? "targets_per_second" : "steps_per_second";
  return Timed{line.value(rate, 0.0), line.value("first_loss", 0.0), line.value("last_loss", 0.0),
               line.value("version", std::string()) + ", " + how};
}

// Each way in which a peer is tried, once a round.
struct Way {
  std::vector<std::string> words;
  std::string how;
  int rounds;
};

std::vector<Way> ways_of(const Work& work, const std::string& windows, bool compile) {
  if (work.text == Text::kVillages) return {{{villages(), "100"}, "one thread", 1}};
  std::vector<std::string> data;
  if (!windows.empty()) data = {"--windows", windows};
  std::vector<Way> ways;
  std::vector<int> counts = {1};
  if (threads() > 1) counts.push_back(threads());
  for (const int count : counts) {
    std::vector<std::string> words = data;
    words.insert(words.end(), {"--threads", std::to_string(count)});
    ways.push_back({words, fmt::format("eager, {} threads", count), work.rounds});
    words.emplace_back("--compile");
    if (compile && count == counts.back() && std::string(work.name) != "gpt2-124m")
      ways.push_back({words, fmt::format("compiled, {} threads", count), 1});
  }
  return ways;
}

bool close(double a, double b, double limit) {
  return std::abs(a - b) <= limit;
}

Json row_of(const Work& work, const Timed& tril, const Timed& peer, const std::vector<Timed>& others) {
  const double ratio = tril.rate / peer.rate;
  const bool agree = !work.same_seed || close(tril.first_loss, peer.first_loss, 1e-5);
  Json tried = Json::array();
  for (const Timed& other : others) tried.push_back({{"how", other.how}, {"rate", other.rate}});
  return {{"name", work.name},
          {"tril", tril.rate},
          {"peer", peer.rate},
          {"unit", work.text == Text::kVillages ? "steps/s" : "targets/s"},
          {"against", std::string(work.against) + ": " + peer.how},
          {"ratio", ratio},
          {"goal", work.goal},
          {"met", agree && ratio >= work.goal},
          {"same_work", agree},
          {"first_loss", {{"tril", tril.first_loss}, {"peer", peer.first_loss}}},
          {"last_loss", {{"tril", tril.last_loss}, {"peer", peer.last_loss}}},
          {"tried", tried}};
}

// Rounds interleave, so that a machine that slows down slows both.
Json measure(const Work& work, const std::string& python, bool compile, Json& skipped) {
  log::note("bench: {}", work.name);
  const Prepared prepared = prepare(work);
  const bool count_steps = work.text == Text::kVillages;
  std::string windows;
  if (std::string(work.script) == "one_head.py") {
    windows = (std::filesystem::temp_directory_path() / fmt::format("tril-windows-{}", getpid())).string();
    write_windows(prepared, windows);
  }
  std::optional<Timed> best, best_peer;
  std::vector<Timed> tried;
  const std::vector<Way> ways = ways_of(work, windows, compile);
  for (int round = 0; round < work.rounds; ++round) {
    const Timed ours = time_tril(prepared, count_steps);
    if (!best || ours.rate > best->rate) best = ours;
    for (const Way& way : ways) {
      if (round >= way.rounds || python.empty()) continue;
      const std::optional<Timed> theirs = time_peer(python, work, way.words, way.how);
      if (!theirs) continue;
      tried.push_back(*theirs);
      if (!best_peer || theirs->rate > best_peer->rate) best_peer = theirs;
    }
  }
  if (!windows.empty()) remove_path(windows);
  if (best_peer) return row_of(work, *best, *best_peer, tried);
  skipped.push_back({{"name", work.name},
                     {"peer", work.against},
                     {"why", python.empty() ? "no Python environment: tril setup peers makes it"
                                            : std::string("bench/peers/") + work.script + " gave no result"},
                     {"tril", best->rate},
                     {"unit", count_steps ? "steps/s" : "targets/s"}});
  return nullptr;
}

std::string find_python() {
  if (const char* given = std::getenv("TRIL_PYTHON")) return given;
  const std::string script = source_folder() + "/scripts/setup_peers.sh";
  if (!file_exists(script)) return "";
  const std::string python =
      last_line(run_child(std::vector<std::string>{"bash", script, "--where"}, true).out) + "/bin/python";
  return file_exists(python) ? python : "";
}

// Peers that no script of bench/peers runs.
Json not_at_hand() {
  Json all = Json::array();
  for (const char* peer : {"JAX", "llama.cpp", "llama2.c", "llm.c", "microgpt-c", "microgpt.cpp"})
    all.push_back(
        {{"name", "training or decoding"}, {"peer", peer}, {"why", "bench/peers has no script for it"}});
  return all;
}

// Figures that others published for other machines stand beside ours, never among the rows.
Json published() {
  const Work work = {"microgpt-16", {}, Text::kVillages, 0, "", {}, "", 0, 1, false};
  const Timed timed = time_tril(prepare(work), true);
  return Json::array({{{"name", "microgpt, one name, width 16"},
                       {"tril", fmt::format("{:.2f} us", 1e6 / (timed.rate * 16))},
                       {"figure", "3.0 us"},
                       {"machine", "EEmicroGPT on one core of an Apple M5"}}});
}

}  // namespace

Json bench_peers(const std::vector<std::string>& only, bool compile) {
  const std::string python = find_python();
  Json rows = Json::array(), skipped = Json::array();
  bool known = only.empty();
  for (const Work& work : works()) {
    if (!only.empty() && std::find(only.begin(), only.end(), work.name) == only.end()) continue;
    known = true;
    if (Json row = measure(work, python, compile, skipped); !row.is_null()) rows.push_back(std::move(row));
  }
  if (!known) refuse("there is no row of that name; tril bench peers without --row measures all");
  if (only.empty())
    for (const Json& peer : not_at_hand()) skipped.push_back(peer);
  return {
      {"rows", rows},
      {"skipped", skipped},
      {"published", only.empty() ? published() : Json::array()},
      {"machine", {{"threads", threads()}, {"vector_level", vector_level()}, {"onednn", onednn_version()}}}};
}

std::string peers_text(const Json& document) {
  Table table({"work", "tril", "peer", "ratio", "goal", "met", "against"});
  for (const Json& row : document["rows"]) {
    const auto rate = [&](const char* side) {
      return short_count(row[side]) + " " + row["unit"].get<std::string>();
    };
    table.row({row["name"], rate("tril"), rate("peer"), fmt::format("{:.2f}", row["ratio"].get<double>()),
               fmt::format("{}", row["goal"].get<double>()),
               row["met"].get<bool>()         ? "yes"
               : row["same_work"].get<bool>() ? "no"
                                              : "losses differ",
               row["against"]});
  }
  std::string text = table.text();
  for (const Json& row : document["skipped"])
    text += fmt::format("skipped: {} against {}: {}\n", row["name"].get<std::string>(),
                        row["peer"].get<std::string>(), row["why"].get<std::string>());
  for (const Json& row : document["published"])
    text += fmt::format("published: {}: {} here, {} ({})\n", row["name"].get<std::string>(),
                        row["tril"].get<std::string>(), row["figure"].get<std::string>(),
                        row["machine"].get<std::string>());
  return text;
}

}  // namespace tril::cli
