// Shape: up to four dimensions, row-major. What it leaves out: strides and broadcasting; every tensor is
// contiguous.
#pragma once
#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace tril {

/// The size of each dimension, outermost first. Rank 0 is a scalar with one element; a dimension may be 0.
class Shape {
 public:
  static constexpr int kMaxRank = 4;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    assert(dims.size() <= kMaxRank);
    for (int64_t dim : dims) {
      assert(dim >= 0);
      dims_[static_cast<size_t>(rank_++)] = dim;
    }
  }

  int rank() const { return rank_; }
  int64_t operator[](int i) const { return dims_[static_cast<size_t>(i)]; }
  /// The last dimension (1 for a scalar): the length of a row.
  int64_t cols() const { return rank_ == 0 ? 1 : dims_[static_cast<size_t>(rank_ - 1)]; }
  /// The product of all dimensions but the last: how many rows.
  int64_t rows() const {
    int64_t product = 1;
    for (int i = 0; i + 1 < rank_; ++i) product *= (*this)[i];
    return product;
  }
  int64_t count() const { return rows() * cols(); }
  /// The same shape with another last dimension.
  Shape with_cols(int64_t cols) const {
    assert(rank_ > 0 && cols >= 0);
    Shape out = *this;
    out.dims_[static_cast<size_t>(rank_ - 1)] = cols;
    return out;
  }
  bool operator==(const Shape& other) const = default;
  /// "[2, 12, 48]"
  std::string text() const;

 private:
  int rank_ = 0;
  std::array<int64_t, kMaxRank> dims_{};
};

}  // namespace tril
