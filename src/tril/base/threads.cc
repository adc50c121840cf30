#include "tril/base/threads.h"

#include <sched.h>

namespace tril {
namespace {
int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
  return omp_get_num_procs();
}
int& count() {
  static int value = available_processors();
  return value;
}
}  // namespace

// oneDNN reads OpenMP's own setting when it is called outside a parallel region, so it is kept at 1 for every
// thread count: the tiling above it is ours (design, section 3).
void set_threads(int n) {
  count() = n < 1 ? 1 : n;
  omp_set_num_threads(1);
}

int threads() { return count(); }

}  // namespace tril
