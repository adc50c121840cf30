#include "tril/tensor/shape.h"

#include <cassert>

namespace tril {

Shape::Shape(std::initializer_list<int64_t> dims) {
  assert(dims.size() <= kMaxRank);
  for (int64_t dim : dims) {
    assert(dim >= 0);
    dims_[static_cast<size_t>(rank_++)] = dim;
  }
}

int64_t Shape::rows() const {
  int64_t product = 1;
  for (int i = 0; i + 1 < rank_; ++i) product *= (*this)[i];
  return product;
}

int64_t Shape::count() const {
  return rows() * cols();
}

Shape Shape::with_cols(int64_t cols) const {
  assert(rank_ > 0 && cols >= 0);
  Shape out = *this;
  out.dims_[static_cast<size_t>(rank_ - 1)] = cols;
  return out;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += (i > 0 ? ", " : "") + std::to_string((*this)[i]);
  return out + "]";
}

}  // namespace tril
