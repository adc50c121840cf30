#include "tril/formats/ggml_types.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

#include "tril/base/half.h"

namespace tril {
namespace {
constexpr std::array<GgmlType, 32> kTypes = {{
    {0, "F32", 1, 4, true},          {1, "F16", 1, 2, true},          {2, "Q4_0", 32, 18, true},
    {3, "Q4_1", 32, 20, true},       {6, "Q5_0", 32, 22, false},      {7, "Q5_1", 32, 24, false},
    {8, "Q8_0", 32, 34, true},       {9, "Q8_1", 32, 36, false},      {10, "Q2_K", 256, 84, false},
    {11, "Q3_K", 256, 110, false},   {12, "Q4_K", 256, 144, false},   {13, "Q5_K", 256, 176, false},
    {14, "Q6_K", 256, 210, false},   {15, "Q8_K", 256, 292, false},   {16, "IQ2_XXS", 256, 66, false},
    {17, "IQ2_XS", 256, 74, false},  {18, "IQ3_XXS", 256, 98, false}, {19, "IQ1_S", 256, 50, false},
    {20, "IQ4_NL", 32, 18, false},   {21, "IQ3_S", 256, 110, false},  {22, "IQ2_S", 256, 82, false},
    {23, "IQ4_XS", 256, 136, false}, {24, "I8", 1, 1, true},          {25, "I16", 1, 2, true},
    {26, "I32", 1, 4, true},         {27, "I64", 1, 8, true},         {28, "F64", 1, 8, true},
    {29, "IQ1_M", 256, 56, false},   {30, "BF16", 1, 2, true},        {34, "TQ1_0", 256, 54, false},
    {35, "TQ2_0", 256, 66, false},   {39, "MXFP4", 32, 17, false},
}};

template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <class T>
void convert(const char* at, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(load<T>(at + i * sizeof(T)));
}

void convert_q8_0(const char* at, std::span<float> out) {
  for (size_t start = 0; start < out.size(); start += 32, at += 34) {
    const float d = f16_to_float(load<uint16_t>(at));
    for (size_t j = 0; j < 32; ++j) out[start + j] = d * static_cast<float>(static_cast<int8_t>(at[2 + j]));
  }
}

void convert_q4_0(const char* at, std::span<float> out) {
  for (size_t start = 0; start < out.size(); start += 32, at += 18) {
    const float d = f16_to_float(load<uint16_t>(at));
    for (size_t j = 0; j < 16; ++j) {
      const int byte = static_cast<uint8_t>(at[2 + j]);
      out[start + j] = d * static_cast<float>((byte & 15) - 8);
      out[start + j + 16] = d * static_cast<float>((byte >> 4) - 8);
    }
  }
}

void convert_q4_1(const char* at, std::span<float> out) {
  for (size_t start = 0; start < out.size(); start += 32, at += 20) {
    const float d = f16_to_float(load<uint16_t>(at)), m = f16_to_float(load<uint16_t>(at + 2));
    for (size_t j = 0; j < 16; ++j) {
      const int byte = static_cast<uint8_t>(at[4 + j]);
      out[start + j] = d * static_cast<float>(byte & 15) + m;
      out[start + j + 16] = d * static_cast<float>(byte >> 4) + m;
    }
  }
}
}  // namespace

const GgmlType* find_ggml_type(uint32_t id) {
  for (const GgmlType& type : kTypes) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

const GgmlType* find_ggml_type(std::string_view name) {
  for (const GgmlType& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

void dequantise(const GgmlType& type, std::string_view bytes, std::span<float> out) {
  assert(type.readable &&
         static_cast<int64_t>(bytes.size()) * type.block == static_cast<int64_t>(out.size()) * type.bytes);
  const char* at = bytes.data();
  if (out.empty()) return;
  if (type.name == "F32") {
    std::memcpy(out.data(), at, bytes.size());
  } else if (type.name == "F16") {
    for (size_t i = 0; i < out.size(); ++i) out[i] = f16_to_float(load<uint16_t>(at + 2 * i));
  } else if (type.name == "BF16") {
    for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_float(load<uint16_t>(at + 2 * i));
  } else if (type.name == "Q8_0") {
    convert_q8_0(at, out);
  } else if (type.name == "Q4_0") {
    convert_q4_0(at, out);
  } else if (type.name == "Q4_1") {
    convert_q4_1(at, out);
  } else if (type.name == "I8") {
    convert<int8_t>(at, out);
  } else if (type.name == "I16") {
    convert<int16_t>(at, out);
  } else if (type.name == "I32") {
    convert<int32_t>(at, out);
  } else if (type.name == "I64") {
    convert<int64_t>(at, out);
  } else {
    convert<double>(at, out);
  }
}

namespace {

template <class T>
void store(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void quantise_q8_0(std::span<const float> values, char* at) {
  for (size_t start = 0; start < values.size(); start += 32, at += 34) {
    float largest = 0;
    for (size_t j = 0; j < 32; ++j) largest = std::max(largest, std::fabs(values[start + j]));
    const float d = largest / 127, inverse = d > 0 ? 1 / d : 0;
    store(at, float_to_f16(d));
    for (size_t j = 0; j < 32; ++j) at[2 + j] = static_cast<char>(std::lround(values[start + j] * inverse));
  }
}
}  // namespace

void quantise(const GgmlType& type, std::span<const float> values, std::string& out) {
  out.resize(values.size() / static_cast<size_t>(type.block) * static_cast<size_t>(type.bytes));
  if (values.empty()) return;
  if (type.name == "F32") {
    std::memcpy(out.data(), values.data(), out.size());
  } else if (type.name == "F16") {
    for (size_t i = 0; i < values.size(); ++i) store(out.data() + 2 * i, float_to_f16(values[i]));
  } else {
    assert(type.name == "Q8_0");
    quantise_q8_0(values, out.data());
  }
}

}  // namespace tril
