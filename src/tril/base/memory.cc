// Memory of the machine and of the process.
#include "tril/base/memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <new>
#include <string>

#include "tril/base/number.h"

namespace tril {
namespace {

// The first line of a small file of the system; "" where there is none.
std::string first_line(const char* path) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) return "";
  char buffer[64] = "";
  const size_t n = std::fread(buffer, 1, sizeof buffer - 1, file);
  std::fclose(file);
  const std::string text(buffer, n);
  return text.substr(0, text.find('\n'));
}

}  // namespace

int64_t machine_memory() {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) bytes = int64_t{pages} * page;
  // control groups, second and first version; "max" is no number
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (const auto limit = parse_integer(first_line(path)); limit && *limit > 0)
      bytes = std::min(bytes, *limit);
  return bytes;
}

int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

void require_room(size_t bytes) {
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  munmap(room, bytes);
}

// The second number of statm is the resident pages.
int64_t resident_memory() {
  const std::string line = first_line("/proc/self/statm");
  const size_t start = line.find(' ') + 1;
  const auto pages = parse_integer(line.substr(start, line.find(' ', start) - start));
  return pages ? *pages * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace tril
