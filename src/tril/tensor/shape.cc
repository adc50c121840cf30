#include "tril/tensor/shape.h"

namespace tril {

std::string Shape::text() const {
  std::string out = "[";
  for (int i = 0; i < rank_; ++i) out += (i > 0 ? ", " : "") + std::to_string((*this)[i]);
  return out + "]";
}

}  // namespace tril
