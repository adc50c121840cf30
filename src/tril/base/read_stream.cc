#include "tril/base/read_stream.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/memory.h"

namespace tril {

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
