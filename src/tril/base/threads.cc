// A pool of our own instead of OpenMP's: its workers sleep soon after there is nothing to do, and a loop ends
// when its pieces are done, not when every worker has been scheduled. On a machine that is busy with other
// work this is the difference between 2.5 s and 68 s for the same 300 training steps (docs/decisions/).
#include "tril/base/threads.h"

#include <sched.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tril/base/interrupt.h"
#include "tril/base/profile.h"

namespace tril {
namespace {

// How long a worker looks for the next loop before it sleeps: about 30 µs, longer than the gap between two
// loops of a training step.
constexpr int kSpins = 1000;

thread_local bool t_inside = false;  // this thread is running a piece

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set) > 0 ? CPU_COUNT(&set) : 1;
  const unsigned int all = std::thread::hardware_concurrency();
  return all > 0 ? static_cast<int>(all) : 1;
}

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Thread safety: run() may be called from any thread; one loop runs at a time.
/// Invariants: a loop's fields are written only while it is closed and nobody is inside; a worker that comes
/// late finds it closed and touches nothing.
class Pool {
 public:
  ~Pool() {
    stop_ = true;
    ++epoch_;
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void run(int64_t pieces, void (*call)(const void*, int64_t), const void* body, int count) {
    const std::lock_guard<std::mutex> one_loop(mutex_);
    while (static_cast<int>(workers_.size()) < count - 1) {
      try {
        workers_.emplace_back([this, index = static_cast<int>(workers_.size())] { work(index); });
      } catch (const std::exception&) {
        break;  // the system gives no more threads, or no memory for one: those there are do the work
      }
    }
    pieces_ = pieces;
    call_ = call;
    body_ = body;
    helpers_ = count - 1;
    next_ = 0;
    open_ = true;
    ++epoch_;
    epoch_.notify_all();
    t_inside = true;
    take_pieces(0);
    t_inside = false;
    open_ = false;
    for (int spins = 0; inside_ != 0; ++spins) spins < kSpins ? pause_briefly() : std::this_thread::yield();
    if (failed_) {
      failed_ = false;
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

  std::atomic<int64_t> by_workers{0};

 private:
  // `thread` 0 is the caller.
  int64_t take_pieces(int thread) {
    Profile* const profile = Profile::active();
    const int64_t since = profile != nullptr ? profile->now() : 0;
    int64_t done = 0;
    try {
      for (int64_t piece = next_++; piece < pieces_; piece = next_++, ++done) {
        interrupt::check();
        call_(body_, piece);
      }
    } catch (...) {
      next_ = pieces_;  // no more are begun
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
    if (profile != nullptr) profile->helped(thread, since, done);
    return done;
  }

  void work(int index) {
    interrupt::use_signal_stack();
    t_inside = true;
    uint64_t seen = 0;
    for (;;) {
      for (int spins = 0; epoch_ == seen && spins < kSpins; ++spins) pause_briefly();
      epoch_.wait(seen);
      seen = epoch_;
      if (stop_) return;
      if (index >= helpers_) continue;
      ++inside_;
      if (open_) by_workers += take_pieces(index + 1);
      --inside_;
    }
  }

  std::mutex mutex_;
  std::vector<std::thread> workers_;
  std::atomic<uint64_t> epoch_{0};  // rises with every loop
  std::atomic<int64_t> next_{0};
  std::atomic<int> inside_{0}, helpers_{0};
  std::atomic<bool> open_{false}, stop_{false}, failed_{false};
  std::exception_ptr failure_;  // written by the one who set failed_, read when nobody is inside
  int64_t pieces_ = 0;
  void (*call_)(const void*, int64_t) = nullptr;
  const void* body_ = nullptr;
};

Pool& pool() {
  static Pool one;
  return one;
}

std::atomic<int>& count() {
  static std::atomic<int> value = available_processors();
  return value;
}

}  // namespace

void set_threads(int n) {
  count() = n < 1 ? 1 : n;
}

int threads() {
  return count();
}

int64_t pieces_by_workers() {
  return pool().by_workers;
}

void detail::run_pieces(int64_t pieces, void (*call)(const void*, int64_t), const void* body) {
  const int64_t most = threads();
  if (most <= 1 || pieces <= 1 || t_inside) {
    for (int64_t i = 0; i < pieces; ++i) {
      interrupt::check();
      call(body, i);
    }
    return;
  }
  pool().run(pieces, call, body, static_cast<int>(pieces < most ? pieces : most));
}

}  // namespace tril
