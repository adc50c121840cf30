// NextLogits: what the model expects after a text that grows. A decoder reads only what is new, through its
// key/value cache; once the context is full the window slides, every position changes, and the window is read
// again. What it leaves out: choosing a token (sampler.h).
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "tril/train/loaded_run.h"

namespace tril {

/// Thread safety: none. The run must outlive it.
class NextLogits {
 public:
  /// `cache` false: the whole window is read for every token, as a check or where memory is short.
  NextLogits(const LoadedRun& run, bool cache);

  /// The logits of the token after `ids`, [V], in double; not empty. Only the last `context` ids are seen.
  /// Ids that the last call gave too, from the start on, are not read again.
  std::vector<double> after(std::span<const int32_t> ids);

 private:
  Var read(std::span<const int32_t> window);

  const LoadedRun& run_;
  Tape tape_;
  std::unique_ptr<Cache> cache_;
  std::vector<int32_t> cached_, input_;
};

}  // namespace tril
