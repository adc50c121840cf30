// GGUF files, versions 2 and 3, little-endian: typed keys, then tensors. Mapped, and checked byte range by
// byte range. docs/formats/gguf.md. What it leaves out: version 1, big-endian files, arrays of arrays, what
// the keys mean for a model.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tril/base/file.h"
#include "tril/formats/ggml_types.h"

namespace tril {

/// Types of values, by their numbers in the file.
enum class GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64
};
/// "u8", "string" and so on.
std::string_view name_of(GgufType type);

/// Elements of one type as they lie in the file; checked, not unpacked.
struct GgufArray {
  GgufType type;
  uint64_t count;
  std::string_view bytes;
};
/// Integers of every width are int64_t or uint64_t, both floats double.
using GgufValue = std::variant<bool, int64_t, uint64_t, double, std::string_view, GgufArray>;

struct GgufTensor {
  std::string name;
  const GgmlType* type;
  std::vector<int64_t> shape;  // outermost first (the file has them innermost first)
  std::string_view bytes;

  int64_t elements() const { return static_cast<int64_t>(bytes.size()) / type->bytes * type->block; }
};

/// What a GGUF file holds; views into the bytes it was parsed from.
struct GgufView {
  uint32_t version = 0;
  uint64_t alignment = 32;
  std::vector<std::pair<std::string, GgufValue>> values;  // in the order of the file
  std::vector<GgufTensor> tensors;                        // in the order of the file
  uint64_t unused = 0;  // bytes of the data that belong to no tensor, beyond what alignment explains
};

/// Parses and checks a whole file's bytes. Throws Refusal: what is wrong, with the key or tensor.
GgufView parse_gguf(std::string_view bytes, const std::string& path);

/// An open GGUF file.
class GgufFile {
 public:
  explicit GgufFile(const std::string& path) : file_(path), view_(parse_gguf(file_.bytes(), path)) {}

  const std::string& path() const { return file_.path(); }
  const GgufView& view() const { return view_; }
  const std::vector<GgufTensor>& tensors() const { return view_.tensors; }
  /// The value of a key, or nullptr.
  const GgufValue* find(std::string_view key) const;
  const GgufTensor* find_tensor(std::string_view name) const;

  /// An array's elements. Throws Refusal that names the key where it is missing or of another type: an 8-bit
  /// number is never read as a float.
  std::vector<std::string_view> strings(std::string_view key) const;
  std::vector<float> floats(std::string_view key) const;
  std::vector<int32_t> integers(std::string_view key) const;

  /// All elements of a tensor as float. Throws Refusal where its type can't be read, naming both.
  void to_float(const GgufTensor& tensor, std::span<float> out) const;

 private:
  const GgufArray& array(std::string_view key, GgufType type) const;

  MappedFile file_;
  GgufView view_;
};

/// Throws Refusal where a tensor's type can't be turned into float, naming both; `path` is its file.
void refuse_unreadable(const GgufTensor& tensor, const std::string& path);

/// The strings of a checked array of strings.
std::vector<std::string_view> strings_of(const GgufArray& array);

}  // namespace tril
