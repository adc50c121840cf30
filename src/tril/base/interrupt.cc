#include "tril/base/interrupt.h"

#include <unistd.h>

#include <atomic>

namespace tril::interrupt {
namespace {
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch only lock-free values");
std::atomic<int> g_signal{0}, g_postponed{0};
std::atomic<pid_t> g_thread{0};  // whose check() throws; 0: there is no guard

int code_of(int signal) {
  if (signal == 0) return kExitDone;
  return signal == SIGTERM ? kExitTerminate : kExitInterrupt;
}

[[noreturn]] void end_now(int code) {
  static constexpr char kLine[] = "tril: interrupted\n";
  [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, kLine, sizeof kLine - 1);
  ::_exit(code);
}

void on_signal(int signal) {
  int none = 0;
  if (!g_signal.compare_exchange_strong(none, signal)) end_now(code_of(signal));
  ::alarm(kPatience);
}

void on_alarm(int) {
  if (g_signal != 0 && g_postponed == 0) end_now(code_of(g_signal));
}

void take(int signal, void (*handler)(int), struct sigaction& before) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = signal == SIGALRM ? SA_RESTART : 0;  // a read that waits must be broken off
  sigaction(signal, &action, &before);
}

}  // namespace

Guard::Guard(Ignored ignored) : before_thread_(g_thread) {
  take(SIGINT, on_signal, before_int_);
  if (ignored == Ignored::kStays && before_int_.sa_handler == SIG_IGN)
    sigaction(SIGINT, &before_int_, nullptr);
  take(SIGTERM, on_signal, before_term_);
  take(SIGALRM, on_alarm, before_alarm_);
  g_thread = ::gettid();
}

Guard::~Guard() {
  g_thread = before_thread_;
  if (before_thread_ == 0) ::alarm(0);
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
  sigaction(SIGALRM, &before_alarm_, nullptr);
}

Postpone::Postpone() {
  ++g_postponed;
}
Postpone::~Postpone() {
  --g_postponed;
}

void check() {
  if (!requested() || g_postponed != 0 || g_thread != ::gettid()) return;
  ::alarm(0);
  throw Interrupted(exit_code(), "interrupted");
}

bool requested() {
  return g_signal.load(std::memory_order_relaxed) != 0;
}
int exit_code() {
  return code_of(g_signal);
}
void clear() {
  g_signal = 0;
  ::alarm(0);
}

}  // namespace tril::interrupt
