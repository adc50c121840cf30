// tril bench allreduce: what a sum over the ranks that mpirun started takes, by its size: the figures that
// docs/scaling.md reckons with. What it leaves out: a training step (result.json's `ranks` has its sums).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tril/train/ranks.h"

namespace tril::cli {

/// Sums of 64 bytes to 16 MB, each for about `seconds`, at least three times; the median counts. Called by
/// all ranks; the same document on each: ranks, library, latency_seconds and bytes_per_second (a fit of the
/// two by plan/scaling.h's formula), rows[{bytes, seconds}].
nlohmann::ordered_json bench_allreduce(Ranks& ranks, double seconds);

/// The same as a table.
std::string allreduce_text(const nlohmann::ordered_json& document);

}  // namespace tril::cli
