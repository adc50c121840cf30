// plan/scaling: about how long a training step takes on several ranks (docs/scaling.md). With N ranks, G
// bytes of gradients in k buckets, α seconds for a message and β bytes a second, halving and doubling
// (Rabenseifner 2004, "Optimization of collective reduction operations") sums in
//   S(G, k) = 2 (k α ⌈log₂ N⌉ + (N − 1)/N · G/β)
// Alone, a rank with b examples takes c + e b seconds, of which backward is two thirds of e b. The sums of
// all buckets but the last, G' bytes, run beside backward:
//   T = c + e B/N + max(S(G', 1), S(G, k) − ⅔ e B/N) + 4 ⌈log₂ N⌉ α
// What it leaves out: machines that differ, and links that several ranks share.
#pragma once
#include <cstdint>
#include <vector>

namespace tril {

/// What lies between two ranks.
struct Link {
  double latency = 0;           // seconds until a message's first byte is there
  double bytes_per_second = 0;  // each way
};

/// Seconds of one sum over `ranks`, in `buckets` pieces.
double sum_seconds(int64_t ranks, double bytes, int64_t buckets, const Link& link);

/// A sum that was measured.
struct SumPoint {
  double bytes, seconds;
};
/// The link that gives these points: the smallest sum's latency, the largest one's bandwidth.
Link fit_link(int64_t ranks, const std::vector<SumPoint>& points);

/// What a rank does alone, in seconds, and what is summed.
struct RankStep {
  double fixed = 0, example = 0;     // a step: fixed + example · examples
  double bytes = 0, last_bytes = 0;  // gradients; those in the last bucket, which backward ends with
  int64_t buckets = 1;
};

/// Seconds of a step of `batch` examples shared out among `ranks`.
double step_seconds(int64_t ranks, double batch, const RankStep& step, const Link& link);

}  // namespace tril
