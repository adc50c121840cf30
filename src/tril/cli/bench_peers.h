// tril bench peers: tril's training loop and the same work in other programs (bench/peers), interleaved in
// one run. What it leaves out: kernels (bench_kernels.h), and whatever is not at hand, which it names.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tril::cli {

/// {rows, skipped, published, machine}: docs of the fields in docs/bench.md. `only` picks rows by name; empty
/// = all.
nlohmann::ordered_json bench_peers(const std::vector<std::string>& only, bool compile);

/// The same as lines.
std::string peers_text(const nlohmann::ordered_json& document);

}  // namespace tril::cli
