// What the fuzz targets share: any bytes must give a value or a Refusal, and nothing else; what was read and
// can be written must be read again as it was. Each target is a program of its own that libFuzzer drives
// (scripts/fuzz.sh). What it leaves out: what a value should be (each reader's own tests).
#pragma once
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tril/base/error.h"

namespace tril {

template <class Read>
int fuzz(const uint8_t* data, size_t size, const Read& read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Refusal&) {
  }
  return 0;
}

/// Ends the program, which libFuzzer takes for a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// What tril itself wrote must not be refused.
template <class Read>
void accept(const Read& read) {
  try {
    read();
  } catch (const Refusal& refusal) {
    require(false, refusal.what());
  }
}

/// A file of this process, in memory.
inline std::string own_path(const char* ending) {
  return "/dev/shm/tril-fuzz-" + std::to_string(getpid()) + ending;
}

/// The bytes as a file, for readers that map one.
inline std::string as_file(std::string_view bytes, const char* ending) {
  const std::string path = own_path(ending);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace tril
