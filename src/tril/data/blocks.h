// Blocks: the examples of a decoder. A block is a slice x of the id stream and the same slice one later, y:
// at each of its positions the target is the next id. Blocks may cross the ends of documents. It leaves out
// drawing starts (train).
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace tril {

/// Invariant: the stream outlives the view.
class Blocks {
 public:
  struct Range {
    int64_t start;   // of x; y starts one later
    int64_t length;  // targets
  };

  /// Throws Refusal "NAME: 8 tokens, needs 9 …" where the stream is shorter than length + 1.
  Blocks(std::span<const int32_t> stream, int64_t length, const std::string& name);

  int64_t length() const { return length_; }
  /// Places where a whole block can start: 0 … starts() - 1.
  int64_t starts() const { return static_cast<int64_t>(stream_.size()) - length_; }
  /// Targets in all: every id but the first.
  int64_t targets() const { return static_cast<int64_t>(stream_.size()) - 1; }

  /// Writes a whole block. Shapes: x [length], y [length].
  void fetch(int64_t start, int32_t* x, int32_t* y) const;

  /// Blocks one behind the other that hold every target exactly once; the last may be shorter.
  int64_t consecutive() const { return (targets() + length_ - 1) / length_; }
  Range consecutive(int64_t index) const;
  /// Targets at the end that whole consecutive blocks leave out: below length.
  int64_t unused() const { return targets() % length_; }

 private:
  std::span<const int32_t> stream_;
  int64_t length_;
};

/// Throws Refusal that names the position and the id unless all ids are in 0 … vocab_size - 1.
void require_ids_below(std::span<const int32_t> ids, int64_t vocab_size, const std::string& name);

}  // namespace tril
