// Arena: memory for one step. It hands out pieces in order and takes all of them back at once, so that after
// the first step a training step asks the system for nothing. What it leaves out: freeing a single piece.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tril/tensor/tensor.h"

namespace tril {

/// Thread safety: none; one arena belongs to one thread.
/// Invariants: pieces are 64-byte aligned and stay valid until rewind() or the arena's end.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// `bytes` of uninitialised memory.
  void* allocate(size_t bytes);
  /// An uninitialised tensor.
  Tensor tensor(Shape shape, DType dtype);
  /// A tensor of zeros.
  Tensor zeros(Shape shape, DType dtype);

  /// From here on tensors of reals are counted and not made: their data must not be touched. Whole numbers
  /// and the tape's own records stay real. used() and most_used() say what a real arena would. It must be
  /// empty.
  void count_only() { counting_ = true; }
  bool counting() const { return counting_; }

  /// Takes back what was handed out after a mark; what came before stays valid.
  struct Mark {
    size_t blocks, offset, used;
  };
  Mark mark() const { return {blocks_.size(), offset_, used_}; }
  void release(const Mark& mark);

  /// Takes everything back. Where a step needed several blocks they are joined, so that the next fits in one.
  void rewind();
  /// Bytes handed out and not taken back, and bytes held from the system.
  size_t used() const { return used_; }
  /// The most that was handed out at once since the last rewind().
  size_t most_used() const { return most_used_; }
  size_t held() const;
  /// How often the system was asked for memory; a test holds it constant over steps.
  int64_t system_calls() const { return system_calls_; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> data;
    size_t size;
  };
  void grow(size_t at_least);

  std::vector<Block> blocks_;
  size_t offset_ = 0;  // in the last block
  size_t used_ = 0;
  size_t most_used_ = 0;  // since the last rewind
  bool counting_ = false;
  int64_t system_calls_ = 0;
};

}  // namespace tril
