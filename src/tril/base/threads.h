// Threads: one loop over pieces. The pieces are cut by the caller from the shape of the work, never from the
// number of threads, so that the same seed gives the same bits with any number of them.
#pragma once
#include <cstdint>

namespace tril {

/// Sets how many threads parallel_for may use (≥ 1).
void set_threads(int count);
/// The number in force; at the start, the number of processors this process may run on.
int threads();

/// How many pieces threads other than the callers have run, since the program began: a sign that they did
/// work.
int64_t pieces_by_workers();

namespace detail {
/// Calls call(body, i) for every i, on the caller's thread and on those of the pool.
void run_pieces(int64_t pieces, void (*call)(const void* body, int64_t piece), const void* body);
}  // namespace detail

/// Runs body(i) for i in [0, pieces), and returns when all have run. Pieces must not write the same memory.
/// Nested calls run in the caller's thread. Where body throws, no further pieces are begun and the first
/// exception is thrown here; so is Interrupted, as interrupt::check() does. One thread of the program calls
/// at a time; others wait.
template <class Body>
void parallel_for(int64_t pieces, const Body& body) {
  if (pieces == 1) return body(int64_t{0});
  detail::run_pieces(
      pieces, [](const void* b, int64_t piece) { (*static_cast<const Body*>(b))(piece); }, &body);
}

/// How many pieces of `grain` cover n: ceil(n / grain).
constexpr int64_t pieces_of(int64_t n, int64_t grain) {
  return (n + grain - 1) / grain;
}

}  // namespace tril
