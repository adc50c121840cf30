#include "tril/formats/stored_tensor.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "tril/base/error.h"
#include "tril/base/half.h"
#include "tril/base/quote.h"

namespace tril {
namespace {
static_assert(std::endian::native == std::endian::little,
              "stored bytes are little-endian and read as they are");

struct TypeRow {
  std::string_view name;
  int64_t size;
};
constexpr std::array<TypeRow, 13> kTypes = {{{"BOOL", 1},
                                             {"U8", 1},
                                             {"I8", 1},
                                             {"I16", 2},
                                             {"U16", 2},
                                             {"F16", 2},
                                             {"BF16", 2},
                                             {"I32", 4},
                                             {"U32", 4},
                                             {"F32", 4},
                                             {"F64", 8},
                                             {"I64", 8},
                                             {"U64", 8}}};

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);  // the bytes may be unaligned
  return value;
}
}  // namespace

int64_t size_of(StoredType type) {
  return kTypes[static_cast<size_t>(type)].size;
}
std::string_view name_of(StoredType type) {
  return kTypes[static_cast<size_t>(type)].name;
}

bool stored_type_by_name(std::string_view name, StoredType& type) {
  for (size_t i = 0; i < kTypes.size(); ++i) {
    if (kTypes[i].name != name) continue;
    type = static_cast<StoredType>(i);
    return true;
  }
  return false;
}

bool elements_of(const std::vector<int64_t>& shape, StoredType type, int64_t& elements) {
  int64_t product = 1, bytes = 0;
  bool zero = false;
  for (const int64_t size : shape) zero = zero || size == 0;
  if (!zero) {
    for (const int64_t size : shape) {
      if (size < 0 || __builtin_mul_overflow(product, size, &product)) return false;
    }
  }
  elements = zero ? 0 : product;
  return !__builtin_mul_overflow(elements, size_of(type), &bytes);
}

int64_t elements(const StoredTensor& tensor) {
  return static_cast<int64_t>(tensor.bytes.size()) / size_of(tensor.type);
}

std::string describe(StoredType type, const std::vector<int64_t>& shape) {
  return fmt::format("{} [{}]", name_of(type), fmt::join(shape, ", "));
}

double element(const StoredTensor& tensor, int64_t i) {
  assert(i >= 0 && i < elements(tensor));
  const char* at = tensor.bytes.data() + i * size_of(tensor.type);
  switch (tensor.type) {
    case StoredType::kF64:
      return load<double>(at);
    case StoredType::kF32:
      return static_cast<double>(load<float>(at));
    case StoredType::kF16:
      return static_cast<double>(f16_to_float(load<uint16_t>(at)));
    case StoredType::kBF16:
      return static_cast<double>(bf16_to_float(load<uint16_t>(at)));
    case StoredType::kI64:
      return static_cast<double>(load<int64_t>(at));
    case StoredType::kI32:
      return load<int32_t>(at);
    case StoredType::kI16:
      return load<int16_t>(at);
    case StoredType::kI8:
      return load<int8_t>(at);
    case StoredType::kU64:
      return static_cast<double>(load<uint64_t>(at));
    case StoredType::kU32:
      return load<uint32_t>(at);
    case StoredType::kU16:
      return load<uint16_t>(at);
    case StoredType::kU8:
    case StoredType::kBool:
      return load<uint8_t>(at);
  }
  return 0;
}

void to_float(const StoredTensor& tensor, std::span<float> out) {
  assert(static_cast<int64_t>(out.size()) == elements(tensor));
  const char* at = tensor.bytes.data();
  const auto n = static_cast<int64_t>(out.size());
  switch (tensor.type) {
    case StoredType::kF32:
      if (n > 0) std::memcpy(out.data(), at, out.size_bytes());
      return;
    case StoredType::kF16:
      for (int64_t i = 0; i < n; ++i) out[i] = f16_to_float(load<uint16_t>(at + 2 * i));
      return;
    case StoredType::kBF16:
      for (int64_t i = 0; i < n; ++i) out[i] = bf16_to_float(load<uint16_t>(at + 2 * i));
      return;
    default:
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(element(tensor, i));
  }
}

namespace {
StoredType stored_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return StoredType::kF32;
    case DType::f64:
      return StoredType::kF64;
    case DType::i32:
      return StoredType::kI32;
  }
  return StoredType::kF32;
}

std::vector<int64_t> sizes_of(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return sizes;
}
}  // namespace

StoredTensor stored(std::string name, const Tensor& tensor) {
  return {std::move(name),
          stored_type_of(tensor.dtype),
          sizes_of(tensor.shape),
          {static_cast<const char*>(tensor.data), static_cast<size_t>(tensor.bytes())}};
}

void copy_stored(const StoredTensor& from, const Tensor& to, const std::string& file) {
  const StoredType type = stored_type_of(to.dtype);
  if (from.type != type || from.shape != sizes_of(to.shape)) {
    refuse("{}: tensor {} is {}, the model needs {}", file, in_quotes(from.name),
           describe(from.type, from.shape), describe(type, sizes_of(to.shape)));
  }
  if (!from.bytes.empty()) std::memcpy(to.data, from.bytes.data(), from.bytes.size());
}

}  // namespace tril
