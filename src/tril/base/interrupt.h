// Ctrl-C and SIGTERM: the first sets a flag. Long work calls check(), which then throws Interrupted, so that
// what was begun is removed on the way out; work that can be saved holds a Postpone and asks requested().
// Where neither comes within kPatience seconds, or at a second signal, the process ends at once. What it
// leaves out: SIGKILL, which nobody can catch; files are safe against it (docs/files.md).
#pragma once
#include <signal.h>
#include <sys/types.h>

#include "tril/base/error.h"

namespace tril {

/// Ctrl-C or SIGTERM. The exit code is 130 or 143.
class Interrupted : public Error {
 public:
  using Error::Error;
};

namespace interrupt {

inline constexpr unsigned kPatience = 3;  // seconds

/// Whether a SIGINT that was ignored when the program began (a script's "&" does that) is taken all the same.
enum class Ignored { kTaken, kStays };

/// Gives the calling thread a stack of its own for signal handlers. A thread that calls a library's generated
/// code needs it: oneDNN's matrix kernels take the stack pointer for a register, and a handler's frame would
/// be written into whatever it points to.
void use_signal_stack();

/// While it lives, SIGINT and SIGTERM set the flag; afterwards they act as before. System calls that wait are
/// broken off (EINTR). Guards may nest.
class Guard {
 public:
  explicit Guard(Ignored ignored = Ignored::kTaken);
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  struct sigaction before_int_, before_term_, before_alarm_;
  pid_t before_thread_;
};

/// While it lives, check() does not throw and the process is not ended for want of an answer: for work that
/// is saved, or cleaned up, whatever came. May nest.
class Postpone {
 public:
  Postpone();
  ~Postpone();
  Postpone(const Postpone&) = delete;
  Postpone& operator=(const Postpone&) = delete;
};

/// Throws Interrupted where a signal has come, in the thread that made the newest Guard only. Cheap: loops
/// call it for every piece of work.
void check();

/// True once a signal has come. Cheap.
bool requested();
/// 130 after SIGINT, 143 after SIGTERM, 0 where none has come.
int exit_code();
/// Forgets a signal that has come.
void clear();

}  // namespace interrupt
}  // namespace tril
