// A lock file between processes, by flock(2): the system frees it when its owner dies, however it dies.
// What it leaves out: waiting. A lock that is held is refused at once.
#pragma once
#include <string>

namespace tril {

/// Holds the lock as long as the object lives; the file is removed at the end.
class LockFile {
 public:
  /// Takes the lock. Throws Refusal where a living process holds it: "WHAT: is in use by process PID; …".
  LockFile(const std::string& path, const std::string& what);
  /// Throws the same Refusal where a living process holds the lock; takes and makes nothing.
  static void require_unused(const std::string& path, const std::string& what);
  ~LockFile();
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;

  /// True where a process that died without cleaning up had left the file; then its number.
  bool taken_over() const { return former_owner_ != 0; }
  long former_owner() const { return former_owner_; }

 private:
  std::string path_;
  int fd_ = -1;
  long former_owner_ = 0;
};

}  // namespace tril
