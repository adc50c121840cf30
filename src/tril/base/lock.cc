#include "tril/base/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/log.h"

namespace tril {
namespace {
/// The process number in the lock file, 0 where there is none.
long read_owner(int fd) {
  char text[32];
  const ssize_t got = ::pread(fd, text, sizeof text, 0);
  long owner = 0;
  if (got > 0) std::from_chars(text, text + got, owner);
  return owner > 0 ? owner : 0;
}

/// True where `path` still names the opened file: a former owner may have removed it between open and flock.
bool same_file(int fd, const std::string& path) {
  struct stat opened {
  }, named{};
  return ::fstat(fd, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

[[noreturn]] void refuse_in_use(const std::string& what, long owner) {
  refuse("{}: is in use by {}; wait until it has ended, or stop it", what,
         owner != 0 ? fmt::format("process {}", owner) : std::string("another process"));
}
}  // namespace

void LockFile::require_unused(const std::string& path, const std::string& what) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  const bool held = ::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const long owner = read_owner(fd);
  ::close(fd);
  if (held) refuse_in_use(what, owner);
}

LockFile::LockFile(const std::string& path, const std::string& what) : path_(path) {
  for (;;) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) refuse("{}: can't be written: {}", what, std::strerror(errno));
    const bool held = ::flock(fd_, LOCK_EX | LOCK_NB) == 0;
    const int error = errno;
    if (held && same_file(fd_, path)) break;
    const long owner = read_owner(fd_);
    if (!held && (error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS)) {
      log::warn("{}: this file system has no locks; keep other processes away from it", what);
      break;
    }
    ::close(fd_);
    fd_ = -1;
    if (!held && error == EWOULDBLOCK) refuse_in_use(what, owner);
    if (!held && error != EINTR) refuse("{}: can't be locked: {}", what, std::strerror(error));
  }
  former_owner_ = read_owner(fd_);
  const std::string mine = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd_, 0) != 0 || ::pwrite(fd_, mine.data(), mine.size(), 0) < 0) {
    const int error = errno;  // the lock holds without the number, but a disk this full can't take a run
    ::unlink(path.c_str());
    ::close(fd_);
    refuse("{}: can't be written: {}", what, std::strerror(error));
  }
}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());  // before the lock is given up, so that the next owner finds a new file
  ::close(fd_);
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(other.fd_), former_owner_(other.former_owner_) {
  other.fd_ = -1;
}

}  // namespace tril
