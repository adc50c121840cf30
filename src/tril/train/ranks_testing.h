// For tests: ranks that are threads of one process, without MPI.
//   together(3, [](Ranks& ranks) { … });
#pragma once
#include <algorithm>
#include <atomic>
#include <barrier>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tril/train/ranks.h"

namespace tril {

/// What the ranks of one test share.
struct ThreadRanksShared {
  struct Sum {
    std::vector<Tensor> parts;
    std::atomic<bool> done{false};
  };
  explicit ThreadRanksShared(int count) : count(count), barrier(count), posted(static_cast<size_t>(count)) {}
  int count;
  std::barrier<> barrier;
  std::vector<const void*> posted;
  std::mutex mutex;
  std::deque<Sum> sums;  // in their order
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(ThreadRanksShared& shared, int rank) : shared_(shared) {
    rank_ = rank, ranks_ = local_ranks_ = shared.count;
    library_ = "threads";
  }

  void broadcast(void* data, int64_t bytes) override {
    exchange(data, [&](const auto& posted) {
      if (rank_ > 0) std::copy_n(static_cast<const char*>(posted[0]), bytes, static_cast<char*>(data));
    });
  }
  void gather(const void* mine, int64_t bytes, void* all) override {
    exchange(mine, [&](const auto& posted) {
      for (size_t r = 0; r < posted.size(); ++r)
        std::copy_n(static_cast<const char*>(posted[r]), bytes,
                    static_cast<char*>(all) + static_cast<int64_t>(r) * bytes);
    });
  }
  void sum(double* data, int64_t count) override {
    std::vector<double> total(static_cast<size_t>(count), 0);
    exchange(data, [&](const auto& posted) {
      for (const void* each : posted)
        for (int64_t i = 0; i < count; ++i)
          total[static_cast<size_t>(i)] += static_cast<const double*>(each)[i];
    });
    std::copy(total.begin(), total.end(), data);
  }
  // The last rank that comes adds up.
  void begin_sum(const Tensor& numbers) override {
    const std::lock_guard lock(shared_.mutex);
    if (shared_.sums.size() <= begun_) shared_.sums.emplace_back();
    ThreadRanksShared::Sum& sum = shared_.sums[begun_++];
    sum.parts.push_back(numbers);
    if (static_cast<int>(sum.parts.size()) < ranks_) return;
    with_real(numbers.dtype, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < numbers.count(); ++i) {
        T total = 0;
        for (const Tensor& part : sum.parts) total += part.as<T>()[i];
        for (const Tensor& part : sum.parts) part.as<T>()[i] = total;
      }
    });
    sum.done = true;
  }
  bool progress() override {
    const std::lock_guard lock(shared_.mutex);
    for (; finished_ < begun_; ++finished_)
      if (!shared_.sums[finished_].done) return false;
    return true;
  }
  void leave() override {}

 private:
  template <class Take>
  void exchange(const void* mine, const Take& take) {
    shared_.posted[static_cast<size_t>(rank_)] = mine;
    shared_.barrier.arrive_and_wait();
    take(shared_.posted);
    shared_.barrier.arrive_and_wait();
  }

  ThreadRanksShared& shared_;
  size_t begun_ = 0, finished_ = 0;
};

/// Runs body(std::unique_ptr<Ranks>) in `count` threads. A body must not throw.
template <class Body>
void together(int count, const Body& body) {
  ThreadRanksShared shared(count);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank] { body(std::make_unique<ThreadRanks>(shared, rank)); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tril
