#include "tril/generate/next_logits.h"

#include <algorithm>

#include "tril/generate/generate.h"
#include "tril/train/trainer.h"

namespace tril {

NextLogits::NextLogits(const LoadedRun& run, bool cache)
    : run_(run), tape_(tape_options(run.config.run, false)) {
  if (cache) cache_ = run.model->make_cache(1, run.config.model.context);
}

std::vector<double> NextLogits::after(std::span<const int32_t> ids) {
  if (cache_ == nullptr) return next_logits(run_, tape_, ids);
  const auto context = static_cast<size_t>(cache_->capacity());
  const Var logits = read(ids.last(std::min(context, ids.size())));
  std::vector<double> out(static_cast<size_t>(logits.cols()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = logits.value().at(static_cast<int64_t>(i));
  return out;
}

// The last id is always read, since its row is the answer.
Var NextLogits::read(std::span<const int32_t> window) {
  const auto [differs, end] = std::mismatch(cached_.begin(), cached_.end(), window.begin(), window.end());
  const auto same = std::min<size_t>(static_cast<size_t>(differs - cached_.begin()), window.size() - 1);
  cache_->rewind(static_cast<int64_t>(same));
  input_.assign(window.begin() + static_cast<std::ptrdiff_t>(same), window.end());
  cached_.assign(window.begin(), window.end());
  tape_.reset();
  const Tensor rows{{1, static_cast<int64_t>(input_.size())}, DType::i32, input_.data()};
  return run_.model->step(tape_, rows, *cache_, Rows::last);
}

}  // namespace tril
