// Rounds of tril and its peers, interleaved, and what they give.
#include "tril/cli/bench_peers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "tril/base/build_info.h"
#include "tril/base/clock.h"
#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/base/typed.h"
#include "tril/cli/child.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLongRound = 20;   // seconds: a side whose rounds take longer has one
constexpr double kFarBehind = 0.7;  // a way slower than this share of its contest's best has one too

/// One way of one contest, while it runs.
struct Side {
  const Contest& contest;
  const Way& way;
  std::unique_ptr<Partner> partner = nullptr;
  std::vector<double> rates = {};
  Timed best = {};
  std::string failure = {};
  bool done = false;
};

std::optional<Timed> timed_of(const std::string& line, const std::string& how) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("rate")) return std::nullopt;
  Timed timed{json.value("rate", 0.0), json.value("seconds", 0.0)};
  if (json.contains("first_loss")) timed.first_loss = json.value("first_loss", 0.0);
  if (json.contains("last_loss")) timed.last_loss = json.value("last_loss", 0.0);
  timed.digest = json.value("digest", std::string());
  timed.how = json.value("version", std::string());
  timed.how += timed.how.empty() || how.empty() ? how : ", " + how;
  return timed;
}

void run_side(Side& side) {
  Timed timed;
  if (side.way.here) {
    timed = side.way.here();
    timed.how = side.way.how;
  } else {
    if (side.partner == nullptr) side.partner = std::make_unique<Partner>(side.way.words);
    const std::optional<std::string> line = side.partner->ask();
    const std::optional<Timed> got = line ? timed_of(*line, side.way.how) : std::nullopt;
    if (!got) {
      side.failure = "it gave no result: " + (line ? *line : side.partner->complaint());
      side.done = true;
      return side.partner.reset();
    }
    timed = *got;
  }
  side.rates.push_back(timed.rate);
  if (timed.rate > side.best.rate) side.best = timed;
  if (timed.seconds > kLongRound) side.done = true;
}

/// The side of a contest with the highest rate; null where none has any.
const Side* best_of(const std::vector<Side>& sides, const Contest& contest) {
  const Side* best = nullptr;
  for (const Side& side : sides)
    if (&side.contest == &contest && !side.rates.empty() &&
        (best == nullptr || side.best.rate > best->best.rate))
      best = &side;
  return best;
}

/// Ends the ways that have no chance left, and frees what they hold.
void end_far_behind(std::vector<Side>& sides) {
  for (Side& side : sides) {
    const Side* best = best_of(sides, side.contest);
    if (best != nullptr && side.best.rate < kFarBehind * best->best.rate) side.done = true;
    if (side.done) side.partner.reset();
  }
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Json losses(const std::optional<double>& tril, const std::optional<double>& peer) {
  return {{"tril", tril ? Json(*tril) : Json()}, {"peer", peer ? Json(*peer) : Json()}};
}

/// Whether both sides did the same work, as far as they tell.
bool same_work(const Contest& contest, const Timed& tril, const Timed& peer) {
  const auto near = [](const std::optional<double>& a, const std::optional<double>& b, double limit) {
    return !a || !b || std::abs(*a - *b) <= limit;
  };
  return near(tril.first_loss, peer.first_loss, contest.first_limit) &&
         near(tril.last_loss, peer.last_loss, contest.last_limit) &&
         (tril.digest.empty() || peer.digest.empty() || tril.digest == peer.digest);
}

Json row_of(const BenchRow& row, const Timed& tril, const std::vector<double>& rates, const Side& peer,
            const std::vector<Side>& sides) {
  const Contest& contest = peer.contest;
  const double ratio = tril.rate / peer.best.rate;
  const bool same = same_work(contest, tril, peer.best);
  Json tried = Json::array();
  for (const Side& side : sides)
    if (&side.contest == &contest)
      tried.push_back({{"how", side.way.how},
                       {"rate", side.rates.empty() ? Json() : Json(side.best.rate)},
                       {"rounds", side.rates.size()}});
  return {{"name", row.name},
          {"tril", tril.rate},
          {"peer", peer.best.rate},
          {"unit", row.unit},
          {"against", contest.against + (peer.best.how.empty() ? "" : " (" + peer.best.how + ")")},
          {"ratio", ratio},
          {"goal", contest.goal},
          {"met", same && ratio >= contest.goal},
          {"same_work", same},
          {"tril_median", median(rates)},
          {"peer_median", median(peer.rates)},
          {"ratio_of_medians", median(rates) / median(peer.rates)},
          {"first_loss", losses(tril.first_loss, peer.best.first_loss)},
          {"last_loss", losses(tril.last_loss, peer.best.last_loss)},
          {"tried", tried}};
}

Json skipped_of(const BenchRow& row, const Contest& contest, const std::vector<Side>& sides, double rate) {
  std::string why = contest.why_not;
  for (const Side& side : sides)
    if (&side.contest == &contest && why.empty()) why = side.way.how + ": " + side.failure;
  return {{"name", row.name}, {"peer", contest.against}, {"why", why}, {"tril", rate}, {"unit", row.unit}};
}

// Rounds interleave, so that a machine that slows down slows both.
void measure(const BenchRow& row, Json& rows, Json& skipped) {
  log::note("bench: {}", row.name);
  std::vector<Side> sides;
  for (const Contest& contest : row.contests)
    for (const Way& way : contest.ways) sides.push_back({contest, way});
  const Round ours = row.prepare();
  Timed best;
  std::vector<double> rates;
  int64_t peak = 0;
  const auto all_done = [&] {
    return std::all_of(sides.begin(), sides.end(), [](const Side& s) { return s.done; });
  };
  for (int round = 0; round < row.rounds && (round == 0 || !all_done()); ++round) {
    const double start = steady_seconds();
    forget_peak();
    Timed timed = ours();
    peak = std::max(peak, peak_memory());
    timed.seconds = steady_seconds() - start;
    rates.push_back(timed.rate);
    if (timed.rate > best.rate) best = timed;
    for (Side& side : sides)
      if (!side.done) run_side(side);
    end_far_behind(sides);
  }
  for (const Contest& contest : row.contests) {
    if (const Side* peer = best_of(sides, contest))
      rows.push_back(row_of(row, best, rates, *peer, sides)), rows.back()["peak_bytes"] = peak;
    else
      skipped.push_back(skipped_of(row, contest, sides, best.rate));
  }
}

std::string find_python() {
  if (const char* given = std::getenv("TRIL_PYTHON")) return given;
  const std::string script = source_folder() + "/scripts/setup_peers.sh";
  if (!file_exists(script)) return "";
  const std::string python =
      last_line(run_child(std::vector<std::string>{"bash", script, "--where"}, true).out) + "/bin/python";
  return file_exists(python) ? python : "";
}

// Figures that others published for other machines stand beside ours, never among the rows.
Json published(const std::vector<BenchRow>& rows) {
  struct Figure {
    const char *row, *name, *figure, *machine;
    double numerator;  // over a rate: microseconds for one; 0: the rate itself
    const char* unit;
  };
  Json all = Json::array();
  for (const Figure& f :
       {Figure{"microgpt-16", "microgpt, training on one name, width 16", "3.0 us",
               "EEmicroGPT on one core of an Apple M5", 1e6, "us"},
        Figure{"microgpt-64", "microgpt, training on one name, width 64", "36.8 us",
               "EEmicroGPT on one core of an Apple M5", 1e6, "us"},
        Figure{"microgpt-inference", "microgpt, generating one stream", "3.82M tokens/s; 1.34M tokens/s",
               "C with NEON on an Apple M4 Pro core; WebAssembly", 0, "tokens/s"}}) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const BenchRow& r) { return r.name == f.row; });
    if (row == rows.end()) continue;
    const Round ours = row->prepare();
    double rate = 0;
    for (int round = 0; round < 3; ++round) rate = std::max(rate, ours().rate);
    const std::string here = f.numerator > 0 ? fmt::format("{:.2f} {}", f.numerator / rate, f.unit)
                                             : short_count(rate) + " " + f.unit;
    all.push_back({{"name", f.name}, {"tril", here}, {"figure", f.figure}, {"machine", f.machine}});
  }
  return all;
}

void require_known(const std::vector<BenchRow>& rows, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const BenchRow& row : rows) names.push_back(row.name);
  for (const std::string& name : only)
    if (std::find(names.begin(), names.end(), name) == names.end())
      refuse("there is no row {}{}; {} without --row measures all", in_quotes(name),
             nearest_hint(name, names), typed({"bench", "peers"}));
}

}  // namespace

Json bench_peers(PeerSettings settings) {
  settings.python = find_python();
  std::vector<BenchRow> all = training_rows(settings);
  for (const auto& more : {inference_rows(settings), text_rows(settings), loss_rows(settings)})
    all.insert(all.end(), more.begin(), more.end());
  require_known(all, settings.only);
  if (!settings.only.empty())
    std::erase_if(all, [&](const BenchRow& row) {
      return std::find(settings.only.begin(), settings.only.end(), row.name) == settings.only.end();
    });
  Json rows = Json::array(), skipped = Json::array();
  for (const BenchRow& row : all)
    if (row.prepare == nullptr)
      skipped.push_back(skipped_of(row, row.contests.front(), {}, 0));
    else if (!row.contests.empty())
      measure(row, rows, skipped);
  return {
      {"rows", rows},
      {"skipped", skipped},
      {"published", published(all)},
      {"machine", {{"threads", threads()}, {"vector_level", vector_level()}, {"onednn", onednn_version()}}}};
}

std::string peers_text(const Json& document) {
  Table table({"work", "tril", "peer", "ratio", "goal", "met", "memory", "against"});
  for (const Json& row : document["rows"]) {
    const auto rate = [&](const char* side) {
      return short_count(row[side].get<double>()) + " " + row["unit"].get<std::string>();
    };
    table.row({row["name"], rate("tril"), rate("peer"), fmt::format("{:.2f}", row["ratio"].get<double>()),
               fmt::format("{}", row["goal"].get<double>()),
               row["met"].get<bool>()         ? "yes"
               : row["same_work"].get<bool>() ? "no"
                                              : "not the same work",
               short_bytes(row["peak_bytes"].get<double>()), row["against"]});
  }
  std::string text = document["rows"].empty() ? "" : table.text();
  for (const Json& row : document["skipped"])
    text += fmt::format("skipped: {} against {}: {} (tril: {} {})\n", row["name"].get<std::string>(),
                        row["peer"].get<std::string>(), row["why"].get<std::string>(),
                        short_count(row["tril"].get<double>()), row["unit"].get<std::string>());
  for (const Json& row : document["published"])
    text += fmt::format("published: {}: {} here, {} ({})\n", row["name"].get<std::string>(),
                        row["tril"].get<std::string>(), row["figure"].get<std::string>(),
                        row["machine"].get<std::string>());
  return text;
}

}  // namespace tril::cli
