// Writes GGUF files, version 3, little-endian: keys, the list of tensors, their numbers.
// docs/formats/gguf.md. The same content gives the same bytes. What it leaves out: what the keys mean
// (gguf_model.h).
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"
#include "tril/formats/ggml_types.h"

namespace tril {

class GgufWriter {
 public:
  void text(std::string_view key, std::string_view value);
  void u32(std::string_view key, uint32_t value);
  void f32(std::string_view key, float value);
  void flag(std::string_view key, bool value);
  void texts(std::string_view key, std::span<const std::string> values);
  void i32s(std::string_view key, std::span<const int32_t> values);

  /// `shape` is outermost first; its last size is a whole number of the type's blocks.
  void tensor(std::string name, std::vector<int64_t> shape, const GgmlType& type);

  size_t tensors() const { return tensors_.size(); }
  /// Writes the file; `numbers(i, out)` fills in tensor i's elements when its turn comes.
  void write(FileWriter& file, const std::function<void(size_t, std::span<float>)>& numbers) const;

 private:
  struct Entry {
    std::string name;
    std::vector<int64_t> shape;
    const GgmlType* type;
    uint64_t offset, bytes;
  };
  void begin(std::string_view key, uint32_t type);

  std::string keys_;
  uint64_t key_count_ = 0, end_ = 0;
  std::vector<Entry> tensors_;
};

}  // namespace tril
