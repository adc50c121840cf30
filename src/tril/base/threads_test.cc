#include "tril/base/threads.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <new>
#include <thread>
#include <vector>

#include "tril/base/interrupt.h"

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

// The first exception of a piece comes out of the loop, and the next loop is as good as ever.
TEST(Threads, AnExceptionOfAPieceIsTheLoops) {
  const int before = threads();
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    for (int round = 0; round < 20; ++round) {
      std::atomic<int> begun{0};
      EXPECT_THROW(parallel_for(1000,
                                [&](int64_t piece) {
                                  ++begun;
                                  if (piece % 7 == 3) throw std::bad_alloc();
                                }),
                   std::bad_alloc);
      EXPECT_LT(begun, 1000);
      std::atomic<int64_t> sum{0};
      parallel_for(100, [&](int64_t piece) { sum += piece; });
      EXPECT_EQ(sum, 4950);
    }
  }
  set_threads(before);
}

TEST(Threads, AnInterruptEndsALoop) {
  const interrupt::Guard guard;
  const int before = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    std::atomic<int> begun{0};
    EXPECT_THROW(parallel_for(1000000,
                              [&](int64_t) {
                                if (++begun == 10) ::raise(SIGINT);
                              }),
                 Interrupted);
    EXPECT_LT(begun, 1000000);
    interrupt::clear();
  }
  set_threads(before);
}

}  // namespace
}  // namespace tril
