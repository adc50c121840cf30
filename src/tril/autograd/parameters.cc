#include "tril/autograd/parameters.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace tril {
namespace {
constexpr int64_t kAlignNumbers = 16;  // 64 bytes of float
constexpr size_t kPadding = 8;         // doubles, room to move the start to a multiple of 64 bytes

char* aligned_start(const std::vector<double>& buffer) {
  const auto address = reinterpret_cast<uintptr_t>(buffer.data());
  return reinterpret_cast<char*>((address + 63) / 64 * 64);
}
}  // namespace

int Parameters::add(std::string name, Shape shape) {
  assert(find(name) < 0);
  infos_.push_back({std::move(name), shape, flat_count_, false});
  flat_count_ += (shape.count() + kAlignNumbers - 1) / kAlignNumbers * kAlignNumbers;
  return size() - 1;
}

void Parameters::allocate() {
  const auto doubles = static_cast<size_t>((flat_count_ * size_of(dtype_) + 7) / 8) + kPadding;
  values_.assign(doubles, 0.0);
  grads_.assign(doubles, 0.0);
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

Tensor Parameters::view(const std::vector<double>& buffer, int i) const {
  const ParameterInfo& p = info(i);
  return {p.shape, dtype_, aligned_start(buffer) + p.offset * size_of(dtype_)};
}

Tensor Parameters::flat(const std::vector<double>& buffer) const {
  return {{flat_count_}, dtype_, aligned_start(buffer)};
}

void Parameters::zero_grads() {
  std::fill(grads_.begin(), grads_.end(), 0.0);
}

}  // namespace tril
