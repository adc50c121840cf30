#include "tril/base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cassert>

#include "tril/base/error.h"

namespace tril::interrupt {
namespace {
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch only lock-free values");
std::atomic<int> g_signal{0};
struct sigaction g_before_int, g_before_term;
bool g_guarded = false;

int code_of(int signal) {
  if (signal == 0) return kExitDone;
  return signal == SIGTERM ? kExitTerminate : kExitInterrupt;
}

void on_signal(int signal) {
  int none = 0;
  if (!g_signal.compare_exchange_strong(none, signal)) ::_exit(code_of(signal));
}
}  // namespace

Guard::Guard() {
  assert(!g_guarded);
  g_guarded = true;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // a write under way goes on; loops see the flag between steps
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &g_before_int);  // also where a script's "&" had it ignored: kill -INT must save
  sigaction(SIGTERM, &action, &g_before_term);
}

Guard::~Guard() {
  sigaction(SIGINT, &g_before_int, nullptr);
  sigaction(SIGTERM, &g_before_term, nullptr);
  g_guarded = false;
}

bool requested() {
  return g_signal.load(std::memory_order_relaxed) != 0;
}
int exit_code() {
  return code_of(g_signal.load());
}
void clear() {
  g_signal.store(0);
}

}  // namespace tril::interrupt
