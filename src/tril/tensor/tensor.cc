#include "tril/tensor/tensor.h"

namespace tril {

double Tensor::at(int64_t i) const {
  assert(i >= 0 && i < count());
  switch (dtype) {
    case DType::f32:
      return static_cast<const float*>(data)[i];
    case DType::f64:
      return static_cast<const double*>(data)[i];
    case DType::i32:
      return static_cast<const int32_t*>(data)[i];
  }
  return 0;
}

}  // namespace tril
