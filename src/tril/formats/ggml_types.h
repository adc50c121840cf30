// The element types of GGUF files: plain numbers and blocks of quantised ones. All are known by size, so that
// a file can be checked; F32, F16, BF16, F64, integers, Q8_0, Q4_0 and Q4_1 can be turned into float. What it
// leaves out: the values of the other quantised types (K and IQ families).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tril {

struct GgmlType {
  uint32_t id;            // in the file
  std::string_view name;  // "Q4_1"
  int64_t block;          // elements in a block
  int64_t bytes;          // of a block
  bool readable;          // dequantise() knows it
};

/// By the number in the file; nullptr for an unknown one.
const GgmlType* find_ggml_type(uint32_t id);

/// Turns whole blocks into float. `type` is readable and `bytes` has out.size() / block blocks.
///   F16, BF16, F32 and integers up to 24 bits: exact
///   Q8_0: y = d q            d: F16, then 32 q of 8 bits, signed
///   Q4_0: y = d (q - 8)      d: F16, then 16 bytes; byte j holds q[j] (low half) and q[j + 16] (high half)
///   Q4_1: y = d q + m        d, m: F16, then the same 16 bytes
void dequantise(const GgmlType& type, std::string_view bytes, std::span<float> out);

/// By its name in the table above ("Q8_0"); nullptr for an unknown one.
const GgmlType* find_ggml_type(std::string_view name);

/// The way back, into `out`: F32 as it is; F16 rounded to nearest, ties to even; Q8_0 with d = max |y| / 127
/// and q = y / d rounded to nearest, ties away from zero. Other types are not written. `values` are whole
/// blocks.
void quantise(const GgmlType& type, std::span<const float> values, std::string& out);

}  // namespace tril
