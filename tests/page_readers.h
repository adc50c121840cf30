// Readers that the tests of the format pages share, written from docs/formats/safetensors.md alone, with
// nothing of tril's own code.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tril_pages {
using nlohmann::json;

// docs/formats/safetensors.md
struct PageTensor {
  std::string dtype;
  std::vector<size_t> shape;
  std::string bytes;
};
struct PageFile {
  std::map<std::string, PageTensor> tensors;
  json metadata;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

inline PageFile read_safetensors(const std::string& bytes) {
  size_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length * 256 + static_cast<unsigned char>(bytes.at(static_cast<size_t>(i)));
  EXPECT_EQ(length % 8, 0u);
  const json header = json::parse(bytes.substr(8, length));
  const std::string data = bytes.substr(8 + length);
  PageFile file;
  size_t used = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      file.metadata = entry;
      continue;
    }
    const size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    file.tensors[name] = {entry["dtype"], entry["shape"], data.substr(begin, end - begin)};
    used += end - begin;
  }
  EXPECT_EQ(used, data.size());
  return file;
}

inline float float_at(const std::string& bytes, size_t i) {
  float value;
  std::memcpy(&value, bytes.data() + 4 * i, 4);
  return value;
}

}  // namespace tril_pages
