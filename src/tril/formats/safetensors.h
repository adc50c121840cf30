// safetensors files: an 8-byte length, a JSON header, the bytes of the tensors. Read from a map and checked
// byte range by byte range; written so that the same content always gives the same bytes.
// docs/formats/safetensors.md. What it leaves out: 8-bit float types, and files in several parts
// (formats/huggingface reads those one by one).
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/base/file.h"
#include "tril/formats/stored_tensor.h"

namespace tril {

using Metadata = std::map<std::string, std::string>;

/// What a safetensors file holds; views into the bytes it was parsed from.
struct SafetensorsView {
  std::vector<StoredTensor> tensors;  // in the order of their bytes, then of their names
  Metadata metadata;
};

/// Parses and checks a whole file's bytes. `path` is for errors. Throws Refusal for anything but a
/// well-formed file: what is wrong, with the tensor's name, and what the file seems to be where it is of
/// another kind.
SafetensorsView parse_safetensors(std::string_view bytes, const std::string& path);

/// An open safetensors file.
class SafetensorsFile {
 public:
  /// Maps and parses. Throws Refusal as parse_safetensors does.
  explicit SafetensorsFile(const std::string& path) : SafetensorsFile(MappedFile(path)) {}
  explicit SafetensorsFile(MappedFile file);

  const std::string& path() const { return file_.path(); }
  std::string_view bytes() const { return file_.bytes(); }
  const std::vector<StoredTensor>& tensors() const { return view_.tensors; }
  const Metadata& metadata() const { return view_.metadata; }
  /// The tensor of that name, or nullptr.
  const StoredTensor* find(std::string_view name) const;

 private:
  MappedFile file_;
  SafetensorsView view_;
};

/// Name, type and shape of a tensor that will be written.
struct TensorSpec {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<int64_t> shape;
};

/// Writes a file piece by piece: the header at once, then each tensor's bytes in the order of order().
/// Nothing of a tensor is kept. Tensors lie by falling type (StoredType's order), then by name, as the
/// reference library puts them, so that each is aligned to its elements; metadata keys are sorted and
/// "format" is "pt" unless given.
class SafetensorsWriter {
 public:
  /// Writes the header. Throws Refusal where a name occurs twice or is "__metadata__".
  SafetensorsWriter(FileWriter& file, std::vector<TensorSpec> tensors, const Metadata& metadata);
  /// The tensors in the order in which their bytes must come.
  const std::vector<TensorSpec>& order() const { return tensors_; }
  /// Bytes of the tensors, going on where the last call ended.
  void write(std::string_view bytes);
  /// Must be called once all bytes are written.
  void finish();

 private:
  FileWriter& file_;
  std::vector<TensorSpec> tensors_;
  uint64_t left_ = 0;
};

/// Writes tensors whose bytes are at hand. The FileWriter is left open.
void write_safetensors(FileWriter& file, std::span<const StoredTensor> tensors, const Metadata& metadata);
/// The same as a whole file, atomically.
void write_safetensors(const std::string& path, std::span<const StoredTensor> tensors,
                       const Metadata& metadata);

}  // namespace tril
