// tril bench peers: tril and other programs at the same work, interleaved in one run. What it leaves out: the
// work (bench_rows.h), kernels (bench_kernels.h), and whatever is not at hand, which it names.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/cli/bench_rows.h"

namespace tril::cli {

/// {rows, skipped, published, machine}: docs/bench.md tells the fields. Throws Refusal for a row's name that
/// there is none of.
nlohmann::ordered_json bench_peers(PeerSettings settings);

/// The same as lines.
std::string peers_text(const nlohmann::ordered_json& document);

}  // namespace tril::cli
