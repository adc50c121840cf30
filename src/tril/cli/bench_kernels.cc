#include "tril/cli/bench_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <vector>

#include "tril/base/build_info.h"
#include "tril/base/table.h"
#include "tril/base/threads.h"
#include "tril/ops/gemm.h"
#include "tril/ops/op_table.h"
#include "tril/ops/rows.h"

namespace tril::cli {
namespace {

using Json = nlohmann::ordered_json;

// A shape that a preset's training meets, and what one forward pass of it costs: multiply-adds twice, or
// bytes moved.
struct Work {
  const char* op;
  const char* preset;
  std::vector<Shape> shapes;
  Attributes attributes;
  int64_t id_bound;
  double flops;  // 0: the op moves bytes
  double bytes;
};

double products(double m, double n, double k) {
  return 2 * m * n * k;
}

std::vector<Work> works() {
  constexpr double f = 4;  // bytes of a float
  return {
      {"embedding",
       "one-head-smoke",
       {{1500, 48}, {256, 12}},
       {{"padding_idx", 0}},
       1500,
       0,
       2 * f * 256 * 12 * 48},
      {"add", "one-head-smoke", {{256, 12, 48}, {12, 48}}, {}, 0, 0, 2 * f * 256 * 12 * 48},
      {"linear", "one-head-smoke, keys", {{256, 12, 48}, {48, 48}, {}}, {}, 0, products(3072, 48, 48), 0},
      {"linear",
       "one-head-smoke, head",
       {{256, 1, 160}, {1500, 160}, {1500}},
       {},
       0,
       products(256, 1500, 160),
       0},
      {"linear",
       "shakespeare-char, MLP",
       {{12, 64, 128}, {512, 128}, {512}},
       {},
       0,
       products(768, 512, 128),
       0},
      {"attention",
       "one-head-smoke",
       {{256, 1, 48}, {256, 12, 48}, {256, 12, 48}, {}},
       {},
       0,
       2 * products(256, 12, 48),
       0},
      {"attention",
       "shakespeare-char",
       {{12, 64, 128}, {12, 64, 128}, {12, 64, 128}, {}},
       {{"heads", 4}},
       0,
       2 * products(12 * 64, 64, 128),
       0},
      {"softmax", "attention of shakespeare-char", {{12, 4, 64, 64}}, {}, 0, 0, 2 * f * 12 * 4 * 64 * 64},
      {"mask", "attention of shakespeare-char", {{12, 4, 64, 64}, {}}, {}, 0, 0, 2 * f * 12 * 4 * 64 * 64},
      {"scale", "attention of shakespeare-char", {{12, 4, 64, 64}}, {}, 0, 0, 2 * f * 12 * 4 * 64 * 64},
      {"relu", "one-head-smoke", {{256, 160}}, {}, 0, 0, 2 * f * 256 * 160},
      {"cross_entropy", "one-head-smoke", {{256, 1500}, {256}}, {}, 1500, 0, f * 256 * 1500},
      {"matmul",
       "attention of shakespeare-char",
       {{48, 64, 32}, {48, 64, 32}},
       {{"transpose_b", 1}},
       0,
       products(48 * 64, 64, 32),
       0},
  };
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best time of runs that fill `seconds`.
template <class Body>
double best_time(double seconds, const Body& body) {
  double best = 1e300;
  const double start = now();
  do {
    const double before = now();
    body();
    best = std::min(best, now() - before);
  } while (now() - start < seconds);
  return best;
}

// What the machine gives at most, by the same library and loops that the ops use.
Json measure_machine(double seconds) {
  constexpr int64_t kSide = 1024, kNumbers = int64_t{1} << 26;
  std::vector<float> a(kSide * kSide, 1.0f), b(kSide * kSide, 0.5f), c(kSide * kSide);
  const double flops = products(kSide, kSide, kSide) * 1e-9;
  const Gemm square{.m = kSide, .n = kSide, .k = kSide};
  const double all = flops / best_time(2 * seconds, [&] { gemm(square, a.data(), b.data(), c.data()); });
  const double one =
      flops / best_time(2 * seconds, [&] { gemm_one_thread(square, a.data(), b.data(), c.data()); });
  const std::vector<float> large(kNumbers, 1.0f);
  const int64_t piece = kNumbers / 64;
  std::vector<float> sums(64);
  const double read = static_cast<double>(kNumbers) * 4e-9 / best_time(2 * seconds, [&] {
                        parallel_for(64, [&](int64_t i) {
                          sums[static_cast<size_t>(i)] = rows::sum(large.data() + i * piece, piece);
                        });
                      });
  return {{"threads", threads()},
          {"vector_level", vector_level()},
          {"product_gflops", all},
          {"product_gflops_one_thread", one},
          {"read_gb_per_second", read}};
}

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
  void run(Tape& tape, bool back) {
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
    const Var y = spec_.call(tape, in, work_.attributes);
    if (!back) return;
    std::fill(y.g<float>(), y.g<float>() + y.count(), 1e-3f);
    tape.backward(tape.make({}, true), 0);
  }

 private:
  const Work& work_;
  const OpSpec& spec_;
  std::vector<std::vector<float>> values_, grads_;
  std::vector<std::vector<int32_t>> ids_;
};

Json figure(const Work& work, double seconds, double passes, const Json& machine) {
  const bool counts_flops = work.flops > 0;
  const double rate = passes * (counts_flops ? work.flops : work.bytes) * 1e-9 / std::max(seconds, 1e-9);
  const double peak = machine.at(counts_flops ? "product_gflops" : "read_gb_per_second").get<double>();
  return {{"ms", seconds * 1e3},
          {"rate", rate},
          {"unit", counts_flops ? "GFLOP/s" : "GB/s"},
          {"share", rate / peak}};
}

Json measure(const Work& work, double seconds, const Json& machine) {
  Inputs inputs(work);
  Tape forward({Engine::fast, DType::f32, false}), both({Engine::fast, DType::f32, true}),
      plain({Engine::reference, DType::f32, true});
  const double fast_forward = best_time(seconds, [&] { inputs.run(forward, false); });
  const double fast_both = best_time(seconds, [&] { inputs.run(both, true); });
  const double plain_both = best_time(seconds, [&] { inputs.run(plain, true); });
  std::string shapes;
  for (const Shape& shape : work.shapes)
    if (shape.rank() > 0) shapes += (shapes.empty() ? "" : " ") + shape.text();
  return {{"op", work.op},
          {"preset", work.preset},
          {"shapes", shapes},
          {"forward", figure(work, fast_forward, 1, machine)},
          {"backward",
           figure(work, fast_both - fast_forward, 2, machine)},  // two products, or two passes, for each one
          {"gain", plain_both / fast_both}};
}

}  // namespace

Json bench_kernels(double seconds) {
  Json out;
  out["machine"] = measure_machine(seconds);
  out["kernels"] = Json::array();
  out["slow"] = Json::array();
  for (const Work& work : works()) {
    const Json row = measure(work, seconds, out["machine"]);
    if (row["gain"].get<double>() < 1.2)
      out["slow"].push_back({{"op", row["op"]},
                             {"preset", row["preset"]},
                             {"gain", row["gain"]},
                             {"why", "it only moves numbers: the compiler's own loop is as fast as memory"}});
    out["kernels"].push_back(row);
  }
  return out;
}

std::string kernels_text(const Json& document) {
  const Json& machine = document.at("machine");
  std::string text = fmt::format(
      "{} threads, {}: products {:.0f} GFLOP/s (one thread {:.0f}), reading {:.1f} GB/s; shares are of "
      "these\n\n",
      machine.at("threads").get<int>(), machine.at("vector_level").get<std::string>(),
      machine.at("product_gflops").get<double>(), machine.at("product_gflops_one_thread").get<double>(),
      machine.at("read_gb_per_second").get<double>());
  Table table({"op", "forward", "share", "backward", "share", "over plain", "shapes", "as in"});
  for (const Json& row : document.at("kernels")) {
    const auto rate = [&](const char* pass) {
      const Json& f = row.at(pass);
      return fmt::format("{:.1f} {}", f.at("rate").get<double>(), f.at("unit").get<std::string>());
    };
    const auto share = [&](const char* pass) {
      return fmt::format("{:.0f}%", 100 * row.at(pass).at("share").get<double>());
    };
    table.row({row.at("op"), rate("forward"), share("forward"), rate("backward"), share("backward"),
               fmt::format("{:.1f}x", row.at("gain").get<double>()), row.at("shapes"), row.at("preset")});
  }
  text += table.text();
  for (const Json& row : document.at("slow"))
    text += fmt::format("\nbelow 1.2x over plain: {} ({}): {}", row.at("op").get<std::string>(),
                        row.at("preset").get<std::string>(), row.at("why").get<std::string>());
  return text + (document.at("slow").empty() ? "" : "\n");
}

}  // namespace tril::cli
