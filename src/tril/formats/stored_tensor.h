// A tensor as a file holds it: name, type, shape, bytes. It owns nothing; the bytes lie in a mapped file or
// in parameters. What it leaves out: block-quantised types, which gguf.h turns into f32.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tril/tensor/tensor.h"

namespace tril {

/// In the order of the reference safetensors library, which writes the last of them first.
enum class StoredType { kBool, kU8, kI8, kI16, kU16, kF16, kBF16, kI32, kU32, kF32, kF64, kI64, kU64 };

/// Bytes of one element.
int64_t size_of(StoredType type);
/// The name in safetensors files: "F32".
std::string_view name_of(StoredType type);
/// By that name, letter by letter. Returns false for an unknown one.
bool stored_type_by_name(std::string_view name, StoredType& type);

struct StoredTensor {
  std::string name;
  StoredType type = StoredType::kF32;
  std::vector<int64_t> shape;  // [] is a single number
  std::string_view
      bytes;  // row-major, little-endian, maybe unaligned; elements(shape) * size_of(type) of them
};

/// The product of the sizes; 1 for []. Returns false where it, or its bytes in elements of `type`, passes
/// 2^63 - 1.
bool elements_of(const std::vector<int64_t>& shape, StoredType type, int64_t& elements);
/// The product of the sizes of a checked shape.
int64_t elements(const StoredTensor& tensor);

/// "F32 [48, 160]"
std::string describe(StoredType type, const std::vector<int64_t>& shape);

/// Element i as double. Exact but for 64-bit integers beyond 2^53.
double element(const StoredTensor& tensor, int64_t i);
/// All elements as float: exact from F32, F16, BF16 and small integers, rounded from F64 and others.
/// out has elements(tensor) places.
void to_float(const StoredTensor& tensor, std::span<float> out);

/// A tensor in memory under a name, to be written: no copy. f32, f64 and i32 become F32, F64 and I32.
StoredTensor stored(std::string name, const Tensor& tensor);
/// Copies a stored tensor into memory. Throws Refusal where shape or type differ, with both; `file` is for
/// that text.
void copy_stored(const StoredTensor& from, const Tensor& to, const std::string& file);

}  // namespace tril
