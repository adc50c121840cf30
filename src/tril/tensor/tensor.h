// Tensor: a small value that says where numbers lie; it owns nothing. Memory belongs to an Arena, to
// Parameters or to a mapped file. What it leaves out: strides, views into columns, reference counts.
#pragma once
#include <cassert>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tril/tensor/shape.h"

namespace tril {

enum class DType : uint8_t { f32, f64, i32 };

constexpr int64_t size_of(DType dtype) {
  return dtype == DType::f64 ? 8 : 4;
}
constexpr const char* name_of(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f64 ? "f64" : "i32";
}

template <class T>
constexpr DType dtype_of() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t>);
  return std::is_same_v<T, float> ? DType::f32 : std::is_same_v<T, double> ? DType::f64 : DType::i32;
}

/// A contiguous, row-major block of numbers.
struct Tensor {
  Shape shape;
  DType dtype = DType::f32;
  void* data = nullptr;

  int64_t count() const { return shape.count(); }
  int64_t bytes() const { return count() * size_of(dtype); }
  bool exists() const { return data != nullptr; }

  /// The numbers as T, which must be the tensor's own type.
  template <class T>
  T* as() const {
    assert(dtype == dtype_of<T>());
    return static_cast<T*>(data);
  }
  template <class T>
  std::span<T> span() const {
    return {as<T>(), static_cast<size_t>(count())};
  }
  /// One number of any type as double, for printing and checks; slow.
  double at(int64_t i) const;
};

/// Calls body with a zero of the dtype's C++ type (float or double): with_real(dtype, [&](auto zero) {...}).
template <class Body>
decltype(auto) with_real(DType dtype, Body&& body) {
  return dtype == DType::f64 ? body(double{0}) : body(float{0});
}

}  // namespace tril
