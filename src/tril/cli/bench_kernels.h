// tril bench kernels: each op's forward and backward over the shapes of real presets, as a rate, as a share
// of what this machine can do (measured in the same run), and beside the op's plain loops. What it leaves
// out: other programs (bench_peers.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::cli {

/// `seconds` is spent on each measured figure, at least one run; `only` these ops, or all. Fields:
/// machine{threads, vector_level, gflops, gflops_one_core, read_gb_per_second, read_gb_per_second_one_core},
/// kernels[{op, place, shapes, forward{ms, rate, unit, share, gain}, backward{…}, gain, peak_bytes}],
/// slow[{op, place, gain, why}]: those that gain less than 1.2. Throws Refusal for an op that there is not.
nlohmann::ordered_json bench_kernels(double seconds, const std::vector<std::string>& only = {});

/// The same as a table.
std::string kernels_text(const nlohmann::ordered_json& document);

}  // namespace tril::cli
