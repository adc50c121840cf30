#include "tril/autograd/parameters.h"

#include <cassert>
#include <cstdint>
#include <cstring>

namespace tril {
namespace {
constexpr int64_t kAlignNumbers = 16;  // 64 bytes of float
}  // namespace

int Parameters::add(std::string name, Shape shape) {
  assert(find(name) < 0);
  infos_.push_back({std::move(name), shape, flat_count_, false});
  flat_count_ += (shape.count() + kAlignNumbers - 1) / kAlignNumbers * kAlignNumbers;
  return size() - 1;
}

void Parameters::allocate() {
  const Tensor both = memory_.zeros({2, flat_count_}, dtype_);
  const int64_t bytes = flat_count_ * size_of(dtype_);  // a multiple of 64
  values_ = {{flat_count_}, dtype_, both.data};
  grads_ = {{flat_count_}, dtype_, static_cast<char*>(both.data) + bytes};
}

int Parameters::find(std::string_view name) const {
  for (size_t i = 0; i < infos_.size(); ++i)
    if (infos_[i].name == name) return static_cast<int>(i);
  return -1;
}

int64_t Parameters::count() const {
  int64_t total = 0;
  for (const ParameterInfo& info : infos_) total += info.shape.count();
  return total;
}

Tensor Parameters::view(const Tensor& flat, int i) const {
  const ParameterInfo& p = info(i);
  return {p.shape, dtype_, static_cast<char*>(flat.data) + p.offset * size_of(dtype_)};
}

void Parameters::zero_grads() {
  if (grads_.exists()) std::memset(grads_.data, 0, static_cast<size_t>(grads_.bytes()));
}

}  // namespace tril
