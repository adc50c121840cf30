// Sums over ranks, timed.
#include "tril/cli/bench_allreduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tril/base/clock.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/plan/scaling.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

// Of one sum; all ranks begin together, and it ends with the last.
double once(Ranks& ranks, std::vector<float>& numbers) {
  double nothing = 0;
  ranks.sum(&nothing, 1);
  const double begun = steady_seconds();
  ranks.begin_sum({{static_cast<int64_t>(numbers.size())}, DType::f32, numbers.data()});
  while (!ranks.progress()) std::this_thread::yield();
  return steady_seconds() - begun;
}

double best_seconds(Ranks& ranks, int64_t bytes, double seconds) {
  std::vector<float> numbers(static_cast<size_t>(bytes) / sizeof(float), 0);
  once(ranks, numbers);  // the first one makes connections
  double best = 1e300, spent = 0;
  for (int turn = 0; turn < 3 || spent < seconds; ++turn) {
    double all = once(ranks, numbers);
    ranks.sum(&all, 1);  // every rank counts the same time, so that all go on as often
    best = std::min(best, all / ranks.ranks());
    spent += all / ranks.ranks();
  }
  return best;
}

}  // namespace

Json bench_allreduce(Ranks& ranks, double seconds) {
  Json rows = Json::array();
  std::vector<SumPoint> points;
  for (const int64_t bytes : {64, 4096, 65536, 262144, 1 << 20, 4 << 20, 16 << 20}) {
    const double time = best_seconds(ranks, bytes, seconds);
    points.push_back({static_cast<double>(bytes), time});
    rows.push_back({{"bytes", bytes}, {"seconds", time}});
  }
  const Link link = fit_link(ranks.ranks(), points);
  return {{"ranks", ranks.ranks()},
          {"library", ranks.library()},
          {"latency_seconds", link.latency},
          {"bytes_per_second", link.bytes_per_second},
          {"rows", rows}};
}

std::string allreduce_text(const Json& document) {
  const Link link{document.at("latency_seconds"), document.at("bytes_per_second")};
  const int ranks = document.at("ranks");
  Table table({"bytes", "ms", "ms by the formula"});
  for (const Json& row : document.at("rows")) {
    const double bytes = row.at("bytes");
    table.row({with_commas(row.at("bytes")), fmt::format("{:.3f}", 1000 * row.at("seconds").get<double>()),
               fmt::format("{:.3f}", 1000 * sum_seconds(ranks, bytes, 1, link))});
  }
  return fmt::format("{} ranks, {}: {:.1f} us a message, {}/s\n\n{}", ranks,
                     document.at("library").get<std::string>(), 1e6 * link.latency,
                     short_bytes(link.bytes_per_second), table.text());
}

}  // namespace tril::cli
