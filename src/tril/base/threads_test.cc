#include "tril/base/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tril {
namespace {

TEST(Threads, EveryPieceRunsOnceForAnyThreadCount) {
  const int before = threads();
  for (int count : {1, 2, 3, 7}) {
    set_threads(count);
    std::vector<std::atomic<int>> seen(101);
    parallel_for(101, [&](int64_t i) { ++seen[i]; });
    for (auto& times : seen) EXPECT_EQ(times, 1);
  }
  set_threads(before);
}

TEST(Threads, NestedLoopsAndNoPieces) {
  std::atomic<int> runs{0};
  parallel_for(3, [&](int64_t) { parallel_for(4, [&](int64_t) { ++runs; }); });
  EXPECT_EQ(runs, 12);
  parallel_for(0, [&](int64_t) { ++runs; });
  EXPECT_EQ(runs, 12);
}

TEST(Threads, WorkersDoWork) {
  const int before = threads();
  set_threads(2);
  const int64_t had = pieces_by_workers();
  std::atomic<int> workers{0};
  std::atomic<bool> other{false};
  // Piece 0 waits until another thread has taken piece 1, so both must run at once.
  parallel_for(2, [&](int64_t) {
    ++workers;
    while (workers < 2 && !other) {
    }
    other = true;
  });
  EXPECT_EQ(workers, 2);
  EXPECT_EQ(pieces_by_workers(), had + 1);
  set_threads(before);
}

TEST(Threads, ManyShortLoopsFromSeveralThreads) {
  const int before = threads();
  set_threads(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int loop = 0; loop < 300; ++loop) parallel_for(5, [&](int64_t i) { sum += i; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 3 * 300 * 10);
  set_threads(before);
}

}  // namespace
}  // namespace tril
