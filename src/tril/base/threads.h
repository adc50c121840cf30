// Threads: one loop over pieces. The pieces are cut by the caller from the shape of the work, never from the
// number of threads, so that the same seed gives the same bits with any number of them.
#pragma once
#include <omp.h>

#include <cstdint>
#include <exception>

namespace tril {

/// Sets how many threads parallel_for may use (≥ 1). Also limits libraries that use OpenMP inside it.
void set_threads(int count);
/// The number in force; at the start, the number of processors this process may run on.
int threads();

/// Runs body(i) for i in [0, pieces). Pieces must not write the same memory. Nested calls run in the caller's
/// thread. body must not throw.
template <class Body>
void parallel_for(int64_t pieces, const Body& body) {
  const int count = static_cast<int>(pieces < threads() ? pieces : threads());
  if (count <= 1 || omp_in_parallel()) {
    for (int64_t i = 0; i < pieces; ++i) body(i);
    return;
  }
#pragma omp parallel for num_threads(count) schedule(dynamic, 1)
  for (int64_t i = 0; i < pieces; ++i) body(i);
}

/// How many pieces of `grain` cover n: ceil(n / grain).
constexpr int64_t pieces_of(int64_t n, int64_t grain) { return (n + grain - 1) / grain; }

}  // namespace tril
