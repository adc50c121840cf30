// What numbers a stored tensor holds: smallest, largest, how many are not finite. Reads every element.
#pragma once
#include <cstdint>
#include <string>

#include "tril/formats/stored_tensor.h"

namespace tril {

struct TensorRange {
  double smallest = 0, largest = 0;  // of the finite ones; 0 where there is none
  int64_t finite = 0, nan = 0, infinite = 0;
};

TensorRange range_of(const StoredTensor& tensor);

/// "holds NaN (3 of 64 elements)", or infinities; "" where all are finite.
std::string not_finite(const TensorRange& range);

}  // namespace tril
