// tril bench kernels: each op's forward and backward over the shapes of real presets, as a rate, as a share
// of what this machine can do (measured in the same run), and beside the op's plain loops. What it leaves
// out: other programs (bench_peers.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tril::cli {

/// `seconds` is spent on each measured figure, at least one run. Fields: machine{threads, vector_level,
/// product_gflops, product_gflops_one_thread, read_gb_per_second}, kernels[{op, shapes, preset, forward{ms,
/// rate, unit, share}, backward{…}, gain}], slow[{op, why}].
nlohmann::ordered_json bench_kernels(double seconds);

/// The same as a table.
std::string kernels_text(const nlohmann::ordered_json& document);

}  // namespace tril::cli
