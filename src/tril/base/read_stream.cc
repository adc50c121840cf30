#include "tril/base/read_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/memory.h"

namespace tril {
namespace {

// A pipe that has a name in a file system: one of a shell's "|" has its writer already.
bool is_named_pipe(const std::string& path) {
  constexpr decltype(statfs::f_type) kPipes = 0x50495045;  // PIPEFS_MAGIC, where pipes without names are
  struct stat status {};
  struct statfs system {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode) &&
         ::statfs(path.c_str(), &system) == 0 && system.f_type != kPipes;
}

}  // namespace

int open_to_read(const std::string& path) {
  interrupt::check();
  if (is_named_pipe(path)) log::note("waiting for {}", path);
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  while (descriptor < 0 && errno == EINTR) {
    interrupt::check();
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  }
  return descriptor;
}

std::string read_stream(int descriptor, const std::string& name, int64_t most) {
  if (most <= 0) most = machine_memory() / 4;  // what is made of a text takes more than the text
  std::string bytes;
  char block[65536];
  for (;;) {
    interrupt::check();
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse("{}: can't be read: {}", name, std::strerror(errno));
    if (got == 0) return bytes;
    bytes.append(block, static_cast<size_t>(got));
    if (static_cast<int64_t>(bytes.size()) > most)
      refuse("{}: over {} bytes have come and no end; write the text to a file first", name, most);
  }
}

}  // namespace tril
