// Faults on order: makes the n-th write, flush, rename and so on of this process fail, or ends the process
// there, so that tests can try a whole run for every n. Off unless plan() or the environment variable
// TRIL_FAULT asks for it. What it leaves out: reads; they are tested with broken files.
#pragma once
#include <cstdint>
#include <string_view>

namespace tril::fault {

/// What a file operation does to the disk. kCreate makes a file or folder, kCut shortens a file.
enum class Operation { kWrite, kFlush, kRename, kRemove, kCreate, kCut };

/// kError: fails once (EIO). kFull: half of a write is done, then every write and create fails (ENOSPC).
/// kShort: a write does half of what it was asked and says so, which is no failure. kKill: half of a write is
/// done, then the process ends without cleaning up, as after kill -9.
enum class Effect { kNone, kError, kFull, kShort, kKill };

/// Plans one fault: "OPERATION:N:EFFECT" with OPERATION write|flush|rename|remove|create|cut|any, N from 1
/// counted from this call, EFFECT error|full|short|kill. "" plans none and only counts. Throws Refusal for
/// anything else.
void plan(std::string_view text);

/// Operations seen since the last plan(): all of them, or those of one kind.
int64_t count();
int64_t count(Operation operation);

/// Called by file.cc before each operation: counts it and says what shall happen to it.
Effect next(Operation operation);

/// The exit status of a process ended by kKill, as the shell gives it for kill -9.
inline constexpr int kKilled = 137;

}  // namespace tril::fault
