#include "tril/tensor/arena.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace tril {
namespace {
constexpr size_t kAlign = 64;
constexpr size_t kFirstBlock = size_t{1} << 16;
void* const counted_only = reinterpret_cast<void*>(kAlign);  // not null, and no memory
constexpr size_t round_up(size_t bytes) {
  return (bytes + kAlign - 1) / kAlign * kAlign;
}
}  // namespace

void Arena::Free::operator()(std::byte* p) const {
  ::operator delete (p, std::align_val_t{kAlign});
}

void Arena::grow(size_t at_least) {
  const size_t size = std::max(at_least, blocks_.empty() ? kFirstBlock : 2 * blocks_.back().size);
  auto* data = static_cast<std::byte*>(::operator new (size, std::align_val_t{kAlign}));
  blocks_.push_back({std::unique_ptr<std::byte, Free>(data), size});
  offset_ = 0;
  ++system_calls_;
}

void* Arena::allocate(size_t bytes) {
  const size_t need = round_up(std::max<size_t>(bytes, 1));
  if (blocks_.empty() || blocks_.back().size - offset_ < need) grow(need);
  void* piece = blocks_.back().data.get() + offset_;
  offset_ += need;
  used_ += need;
  most_used_ = std::max(most_used_, used_);
  return piece;
}

Tensor Arena::tensor(Shape shape, DType dtype) {
  Tensor out{shape, dtype, nullptr};
  const auto bytes = static_cast<size_t>(out.bytes());
  if (counting_ && dtype != DType::i32) {
    used_ += round_up(std::max<size_t>(bytes, 1));
    most_used_ = std::max(most_used_, used_);
    out.data = counted_only;
    return out;
  }
  out.data = allocate(bytes);
  return out;
}

Tensor Arena::zeros(Shape shape, DType dtype) {
  const Tensor out = tensor(shape, dtype);
  if (out.data != counted_only) std::memset(out.data, 0, static_cast<size_t>(out.bytes()));
  return out;
}

// Of the blocks behind the mark's the last is the largest; it stays, so that a loop of equal parts does not
// ask the system again in each.
void Arena::release(const Mark& mark) {
  if (blocks_.size() == mark.blocks) {
    offset_ = mark.offset;
  } else {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(mark.blocks), blocks_.end() - 1);
    offset_ = 0;
  }
  used_ = mark.used;
}

void Arena::rewind() {
  if (blocks_.size() > 1 && !counting_) {
    const size_t total = most_used_ + most_used_ / 8;  // a little more, for the unevenness of batches
    blocks_.clear();
    grow(round_up(total));
  }
  offset_ = 0;
  used_ = most_used_ = 0;
}

size_t Arena::held() const {
  size_t total = 0;
  for (const Block& block : blocks_) total += block.size;
  return total;
}

}  // namespace tril
