// Ctrl-C and SIGTERM: the first sets a flag that long loops ask for, so that work can be saved; the second
// ends the process at once. What it leaves out: SIGKILL, which nobody can catch; files are safe against it
// (docs/files.md).
#pragma once

namespace tril::interrupt {

/// While it lives, SIGINT and SIGTERM set the flag; afterwards they act as before. Not nested; one at a time.
class Guard {
 public:
  Guard();
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

/// True once a signal has come. Cheap: loops ask it in every step.
bool requested();
/// 130 after SIGINT, 143 after SIGTERM, 0 where none has come.
int exit_code();
/// Forgets a signal that has come.
void clear();

}  // namespace tril::interrupt
