#include "tril/autograd/parameters.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "tril/base/memory.h"

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

void Parameters::Free::operator()(void* p) const {
  std::free(p);
}

// calloc of many bytes gives pages that the system fills when they are first written to.
void Parameters::allocate() {
  constexpr size_t kAlign = 64;
  const int64_t bytes = flat_count_ * size_of(dtype_);  // a multiple of 64
  size_t room = 2 * static_cast<size_t>(bytes) + kAlign;
  memory_.reset(std::calloc(room, 1));
  if (memory_ == nullptr) throw std::bad_alloc();
  void* start = memory_.get();
  start = std::align(kAlign, room - kAlign, start, room);
  prefer_large_pages(start, static_cast<size_t>(bytes));
  values_ = {{flat_count_}, dtype_, start};
  grads_ = {{flat_count_}, dtype_, static_cast<char*>(start) + bytes};
  untouched_ = std::make_unique<bool[]>(infos_.size());
}

void Parameters::borrow(int i, const void* data) {
  const auto there = reinterpret_cast<intptr_t>(data), here = reinterpret_cast<intptr_t>(values_.data);
  assert((there - here) % size_of(dtype_) == 0);
  infos_[static_cast<size_t>(i)].offset = (there - here) / size_of(dtype_);  // view() comes out there
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
  if (!grads_.exists()) return;
  for (int i = 0; i < size(); ++i)
    info(i).frozen ? settle(i) : static_cast<void>(untouched_[static_cast<size_t>(i)] = true);
}

void Parameters::settle(int i) const {
  if (untouched_ == nullptr || !std::exchange(untouched_[static_cast<size_t>(i)], false)) return;
  const Tensor grad = view(grads_, i);
  std::memset(grad.data, 0, static_cast<size_t>(grad.bytes()));
}

std::vector<std::pair<int64_t, int64_t>> Parameters::trained_ranges() const {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int i = 0; i < size(); ++i) {
    if (info(i).frozen) continue;
    const int64_t start = info(i).offset, end = i + 1 < size() ? info(i + 1).offset : flat_count_;
    if (!ranges.empty() && ranges.back().first + ranges.back().second == start)
      ranges.back().second = end - ranges.back().first;
    else
      ranges.emplace_back(start, end - start);
  }
  return ranges;
}

}  // namespace tril
