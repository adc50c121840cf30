// What the fuzz targets share: any bytes must give a value or a Refusal, and nothing else. Each target is a
// program of its own that libFuzzer drives (scripts/fuzz.sh). What it leaves out: what a reader gives back.
#pragma once
#include <cstddef>
#include <cstdint>
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

/// The bytes as a file, for readers that map one.
inline std::string as_file(std::string_view bytes, const char* ending) {
  const std::string path = std::string("/dev/shm/tril-fuzz") + ending;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

}  // namespace tril
