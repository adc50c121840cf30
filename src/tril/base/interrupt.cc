#include "tril/base/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>

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
  action.sa_flags =
      SA_ONSTACK | (signal == SIGALRM ? SA_RESTART : 0);  // a read that waits must be broken off
  sigaction(signal, &action, &before);
}

}  // namespace

namespace {

// A thread's own stack for signal handlers, taken back before its memory goes.
struct SignalStack {
  static constexpr size_t kBytes = size_t{1} << 16;
  std::unique_ptr<std::byte[]> room;
  SignalStack() {
    stack_t there{};
    if (::sigaltstack(nullptr, &there) != 0 || (there.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer's
    room = std::make_unique<std::byte[]>(kBytes);
    stack_t ours{};
    ours.ss_sp = room.get();
    ours.ss_size = kBytes;
    ::sigaltstack(&ours, nullptr);
  }
  ~SignalStack() {
    if (room == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    ::sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
};

}  // namespace

void use_signal_stack() {
  static thread_local const SignalStack stack;
  static_cast<void>(stack);
}

Guard::Guard(Ignored ignored) : before_thread_(g_thread) {
  use_signal_stack();
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
