#include "tril/ops/op.h"

#include <stdexcept>

#include "tril/base/error.h"

namespace tril {

void shape_error(const char* op, const char* argument, const Shape& got, const std::string& expected) {
  throw std::invalid_argument(
      fmt::format("{}: {} has shape {}, expected {}", op, argument, got.text(), expected));
}

void require_ids(const char* op, const Tensor& ids, int64_t bound, bool negative_ok) {
  const int32_t* id = ids.as<int32_t>();
  for (int64_t i = 0; i < ids.count(); ++i) {
    if (id[i] < bound && (id[i] >= 0 || negative_ok)) continue;
    refuse("{}: id {} at position {} is outside the {} rows of the table", op, id[i], i, bound);
  }
}

double attribute(const Attributes& attributes, const std::string& name, double otherwise) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? otherwise : found->second;
}

}  // namespace tril
