// NextLogits: what the model expects after texts that grow, one or several of one length side by side. A
// decoder reads only what is new, through its key/value cache; a beginning that all share (a prompt) is read
// once. Once the context is full the window slides, every position changes, and the window is read again.
// What it leaves out: choosing a token (sampler.h).
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "tril/train/loaded_run.h"

namespace tril {

/// Thread safety: none. The run must outlive it.
class NextLogits {
 public:
  /// For up to `samples` texts of up to `longest` ids (0: any length). `cache` false: the whole window is
  /// read for every token, as a check or where memory is short.
  NextLogits(const LoadedRun& run, bool cache, int64_t samples = 1, int64_t longest = 0);

  /// The logits of the token after `ids`, [V], in double; not empty. Only the last `context` ids are seen.
  /// Ids that the last call gave too, from the start on, are not read again.
  std::vector<double> after(std::span<const int32_t> ids);
  /// The same after each of several texts of one length. Fewer texts than before: the last have left.
  std::vector<std::vector<double>> after_each(std::span<const std::vector<int32_t>> texts);

 private:
  using Windows = std::vector<std::span<const int32_t>>;

  std::vector<std::vector<double>> read(const Windows& windows);
  Var forward(const Windows& windows);
  Var step(const Windows& windows);

  const LoadedRun& run_;
  Tape tape_;
  std::unique_ptr<Cache> cache_;
  std::vector<std::vector<int32_t>> cached_;  // what the cache holds of each text
  std::vector<int32_t> input_;
};

/// How many ids a run can give: those of its tokenizer. A model may have more rows than that (a vocabulary
/// padded to a round number); they stand for nothing and have no probability.
int64_t vocabulary_of(const LoadedRun& run);

}  // namespace tril
