// The tensors of another program's model, from one file or several, of safetensors or GGUF, and how they are
// held against the list of what a model needs. What it leaves out: which names and shapes those are
// (weight_layout.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tril/formats/gguf.h"
#include "tril/formats/safetensors.h"
#include "tril/formats/weight_layout.h"

namespace tril {

class Sha256;

/// A tensor's part of a digest over tensors: the name with a zero byte behind it, and the bytes.
void add_tensor(Sha256& hash, std::string_view name, std::string_view bytes);

/// A view into a file that ForeignTensors holds open.
struct ForeignTensor {
  std::string name;
  std::vector<int64_t> shape;
  std::string_view type;  // "BF16", "Q4_1"
  std::variant<StoredTensor, GgufTensor> stored;
  std::string file;

  int64_t elements() const;
  /// False for whole numbers and truth values, which no weight is: quantised ones lack their scale.
  bool is_real() const;
  /// All elements as float. Throws Refusal where the type can't be read.
  void to_float(std::span<float> out) const;
};

class ForeignTensors {
 public:
  /// Takes all tensors of a file, or those that lie in it. Throws Refusal where a name is taken already.
  void add(std::unique_ptr<SafetensorsFile> file);
  void add(std::shared_ptr<const GgufFile> file);
  void add(MappedFile file, std::vector<StoredTensor> tensors);

  const std::vector<ForeignTensor>& all() const { return all_; }
  const ForeignTensor* find(std::string_view name) const;
  /// Puts `prefix` before names that don't begin with it.
  void prefix(std::string_view prefix);
  /// Leaves out a tensor that has no bearing on the model.
  void remove(std::string_view name);
  /// Bytes of all tensors as they are stored.
  uint64_t bytes() const;
  /// Over the names, each with a zero byte behind it, and the bytes of all tensors in the order of their
  /// names, in hexadecimal digits.
  std::string sha256() const;

  /// Throws Refusal unless the names and shapes are exactly those, and all are of real numbers: every
  /// missing, extra, misshapen and whole tensor at once. `where` names file or folder.
  void require(std::span<const LayoutTensor> needed, const std::string& where) const;
  /// Copies all that the list names into the model's parameters. require() must have passed.
  void copy_to(std::span<const LayoutTensor> needed, Parameters& parameters) const;

 private:
  void push(ForeignTensor tensor);

  std::vector<std::unique_ptr<SafetensorsFile>> safetensors_;
  std::vector<std::shared_ptr<const GgufFile>> gguf_;
  std::vector<MappedFile> plain_;
  std::vector<ForeignTensor> all_;  // sorted by name
};

/// Leaves out the buffers that old files carry beside the weights: masks, and rotary tables.
void remove_buffers(ForeignTensors& tensors);

/// "FILE: tensor 'NAME' holds NaN (1 of 64 elements)" for each tensor with a number that is not finite. Reads
/// every element.
std::vector<std::string> not_finite(const ForeignTensors& tensors);

/// True where two tensors hold the same numbers.
bool equal_numbers(const ForeignTensor& a, const ForeignTensor& b);

}  // namespace tril
