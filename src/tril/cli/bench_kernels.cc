#include "tril/cli/bench_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tril/base/build_info.h"
#include "tril/base/clock.h"
#include "tril/base/error.h"
#include "tril/base/memory.h"
#include "tril/base/progress.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/cli/bench_works.h"
#include "tril/ops/gemm.h"
#include "tril/ops/op_table.h"
#include "tril/ops/peak.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMostFlops = 1e10, kMostPlainFlops = 1e8, kWorthTelling = 1.2;

// The best time of runs that fill `seconds`, at least one.
template <class Body>
double best_time(double seconds, const Body& body) {
  double best = 1e300;
  const double start = steady_seconds();
  do {
    const double before = steady_seconds();
    body();
    best = std::min(best, steady_seconds() - before);
  } while (steady_seconds() - start < seconds);
  return std::max(best, 1e-9);
}

// What the machine gives at most, on one core and on all of them.
Json measure_machine(double seconds) {
  const auto cores = static_cast<int64_t>(threads());
  const auto rounds = std::max<int64_t>(1000, static_cast<int64_t>(seconds * 1e7));
  double operations = 0;
  const double one_flops = best_time(seconds, [&] { operations = peak::multiply_add(rounds); });
  const double all_flops =
      best_time(seconds, [&] { parallel_for(cores, [&](int64_t) { peak::multiply_add(rounds); }); });
  // Larger than any cache where there is time to fill it; a very short measurement reads a little.
  const int64_t numbers = std::clamp<int64_t>(static_cast<int64_t>(seconds * 1e9), 1 << 16, int64_t{1} << 26);
  std::vector<float> large;
  large.reserve(static_cast<size_t>(numbers));
  prefer_large_pages(large.data(), static_cast<size_t>(numbers) * sizeof(float));  // as weights have them
  large.resize(static_cast<size_t>(numbers), 1.0f);
  std::vector<float> sums(static_cast<size_t>(cores));
  const auto read_piece = [&](int64_t i) {
    const int64_t begin = numbers * i / cores, end = numbers * (i + 1) / cores;
    sums[static_cast<size_t>(i)] = peak::read(large.data() + begin, end - begin);
  };
  const double one_read = best_time(seconds, [&] { sums[0] = peak::read(large.data(), numbers); });
  const double all_read = best_time(seconds, [&] { parallel_for(cores, read_piece); });
  const double gigabytes = static_cast<double>(numbers) * 4e-9;
  return {{"threads", cores},
          {"vector_level", vector_level()},
          {"gflops", static_cast<double>(cores) * operations * 1e-9 / all_flops},
          {"gflops_one_core", operations * 1e-9 / one_flops},
          {"read_gb_per_second", gigabytes / all_read},
          {"read_gb_per_second_one_core", gigabytes / one_read}};
}

// The best forward and backward time of one op by one engine.
struct Passes {
  double forward = 1e300, backward = 1e300;
};

// The inputs of one piece of work, drawn once, and their gradients.
class Inputs {
 public:
  explicit Inputs(const Work& work) : work_(work), spec_(*find_op(work.op)) {
    for (size_t i = 0; i < work.shapes.size(); ++i) {
      if (work.shapes[i].rank() == 0) continue;
      const auto count = static_cast<size_t>(work.shapes[i].count());
      values_.emplace_back(), grads_.emplace_back(), ids_.emplace_back();
      if (spec_.arguments[i].ids) {
        for (size_t k = 0; k < count; ++k)
          ids_.back().push_back(static_cast<int32_t>((k * 7919) % static_cast<size_t>(work.id_bound)));
      } else {
        for (size_t k = 0; k < count; ++k)
          values_.back().push_back(0.001f * static_cast<float>((k * 7919) % 2003) - 1);
        grads_.back().resize(count);
      }
    }
  }

  Passes time(Engine engine, double seconds) {
    Tape tape({engine, DType::f32, true});
    Passes best;
    const double start = steady_seconds();
    do {
      const double begin = steady_seconds();
      const Var y = call(tape);
      const double middle = steady_seconds();
      std::fill(y.g<float>(), y.g<float>() + y.count(), 1e-3f);
      const double back = steady_seconds();
      tape.backward(tape.make({}, true), 0);
      best.forward = std::min(best.forward, std::max(1e-9, middle - begin));
      best.backward = std::min(best.backward, std::max(1e-9, steady_seconds() - back));
    } while (steady_seconds() - start < seconds);
    return best;
  }

 private:
  Var call(Tape& tape) {
    tape.reset();
    std::vector<Var> in;
    size_t k = 0;
    for (size_t i = 0; i < work_.shapes.size(); ++i) {
      if (work_.shapes[i].rank() == 0) continue;
      if (spec_.arguments[i].ids) {
        in.push_back(tape.constant({work_.shapes[i], DType::i32, ids_[k].data()}));
      } else {
        in.push_back(tape.leaf({work_.shapes[i], DType::f32, values_[k].data()}, grads_[k].data()));
      }
      ++k;
    }
    return spec_.call(tape, in, work_.attributes);
  }

  const Work& work_;
  const OpSpec& spec_;
  std::vector<std::vector<float>> values_, grads_;
  std::vector<std::vector<int32_t>> ids_;
};

double cost(const Work& work) {
  return work.flops > 0 ? work.flops : work.bytes;
}

// How much more the fast op has to do than the plain loops.
double times_the_work(const Measured& measured) {
  return cost(measured.plain) > 0 ? cost(measured.fast) / cost(measured.plain) : 1;
}

// `passes`: a backward pass is two products or two passes over memory for each one of the forward pass; what
// it makes again, because it was not kept, is not counted.
Json figure(const Measured& measured, double fast, double plain, double passes, const Json& machine) {
  const bool products = measured.fast.flops > 0;
  const double rate = passes * cost(measured.fast) * 1e-9 / fast;
  const double peak = machine.at(products ? "gflops" : "read_gb_per_second").get<double>();
  return {{"ms", fast * 1e3},
          {"rate", rate},
          {"unit", products ? "GFLOP/s" : "GB/s"},
          {"share", rate / peak},
          {"gain", plain / fast * times_the_work(measured)}};
}

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes)
    if (shape.rank() > 0) text += (text.empty() ? "" : " ") + shape.text();
  return text;
}

Json measure(const Measured& measured, double seconds, const Json& machine) {
  const Passes fast = Inputs(measured.fast).time(Engine::fast, seconds);
  const Passes plain = Inputs(measured.plain).time(Engine::reference, seconds);
  return {
      {"op", measured.fast.op},
      {"place", measured.fast.place},
      {"shapes", shapes_text(measured.fast.shapes)},
      {"forward", figure(measured, fast.forward, plain.forward, 1, machine)},
      {"backward", figure(measured, fast.backward, plain.backward, 2, machine)},
      {"gain", (plain.forward + plain.backward) / (fast.forward + fast.backward) * times_the_work(measured)}};
}

// Why a fast op is hardly faster than its plain loops.
std::string reason(const Json& row) {
  constexpr double kBrief = 0.05, kSlower = 0.8;  // ms; a gain
  const std::string op = row.at("op");
  if (op == "concat") return "a view: nothing is moved";
  for (const char* copies : {"last_row", "slice_rows"})
    if (op == copies) return "it only copies rows: one plain loop serves both engines";
  if (row["forward"]["ms"].get<double>() + row["backward"]["ms"].get<double>() < kBrief)
    return "so little work that handing it to vectors and threads costs as much";
  if (row.at("gain").get<double>() < kSlower) return "slower than its plain loops: a place to look";
  if (row["forward"]["unit"] == "GB/s")
    return "the compiler makes vectors of the plain loop too, and both wait for memory";
  return "none known: a place to look";
}

}  // namespace

Json bench_kernels(double seconds, const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const OpSpec* spec : op_table()) names.emplace_back(spec->name);
  for (const std::string& op : only)
    if (find_op(op) == nullptr) refuse("there is no op {}{}", in_quotes(op), nearest_hint(op, names));
  Json out;
  out["machine"] = measure_machine(seconds);
  out["kernels"] = Json::array();
  out["slow"] = Json::array();
  for (const Measured& work : all_works(kMostFlops, kMostPlainFlops)) {
    if (!only.empty() && std::find(only.begin(), only.end(), work.fast.op) == only.end()) continue;
    forget_peak();
    Json row = measure(work, seconds, out["machine"]);
    row["peak_bytes"] = peak_memory();
    if (row["gain"].get<double>() < kWorthTelling)
      out["slow"].push_back(
          {{"op", row["op"]}, {"place", row["place"]}, {"gain", row["gain"]}, {"why", reason(row)}});
    out["kernels"].push_back(row);
  }
  return out;
}

std::string kernels_text(const Json& document) {
  const Json& machine = document.at("machine");
  const auto number = [&](const char* field) { return machine.at(field).get<double>(); };
  std::string text = fmt::format(
      "{}, {}: multiply-adds {:.0f} GFLOP/s (one core {:.0f}), reading {:.1f} GB/s (one core "
      "{:.1f}); "
      "shares are of all cores'\n\n",
      counted(machine.at("threads").get<int>(), "thread"), machine.at("vector_level").get<std::string>(),
      number("gflops"), number("gflops_one_core"), number("read_gb_per_second"),
      number("read_gb_per_second_one_core"));
  Table table({"op", "forward", "share", "plain", "backward", "share", "plain", "memory", "shapes", "as in"});
  for (const Json& row : document.at("kernels")) {
    std::vector<std::string> cells = {row.at("op")};
    for (const char* pass : {"forward", "backward"}) {
      const Json& f = row.at(pass);
      const double rate = f.at("rate").get<double>();
      cells.push_back(rate == 0 ? "-" : fmt::format("{:.1f} {}", rate, f.at("unit").get<std::string>()));
      cells.push_back(rate == 0 ? "-" : fmt::format("{:.0f}%", 100 * f.at("share").get<double>()));
      cells.push_back(fmt::format("{:.1f}x", f.at("gain").get<double>()));
    }
    cells.push_back(short_bytes(row.at("peak_bytes").get<double>()));
    cells.push_back(row.at("shapes"));
    cells.push_back(row.at("place"));
    table.row(std::move(cells));
  }
  text += table.text();
  for (const Json& row : document.at("slow"))
    text += fmt::format("\n{:.1f}x over plain: {} ({}): {}", row.at("gain").get<double>(),
                        row.at("op").get<std::string>(), row.at("place").get<std::string>(),
                        row.at("why").get<std::string>());
  return text + (document.at("slow").empty() ? "" : "\n");
}

}  // namespace tril::cli
