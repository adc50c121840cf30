#include "tril/generate/next_logits.h"

#include <algorithm>
#include <cassert>

#include "tril/model/decoder.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

size_t common_beginning(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

bool all_alike(const std::vector<std::span<const int32_t>>& windows) {
  return std::all_of(windows.begin() + 1, windows.end(),
                     [&](const auto& window) { return std::ranges::equal(window, windows[0]); });
}

}  // namespace

int64_t vocabulary_of(const LoadedRun& run) {
  const int64_t rows = run.config.model.vocab_size;
  return run.tokenizer ? std::min(rows, run.tokenizer->vocab_size()) : rows;
}

NextLogits::NextLogits(const LoadedRun& run, bool cache, int64_t samples, int64_t longest)
    : run_(run), tape_(tape_options(run.config.run, false)) {
  require_causal(run.config.model);  // with a cache or without
  const int64_t context = run.config.model.context;
  if (cache) cache_ = run.model->make_cache(samples, longest > 0 ? std::min(longest, context) : context);
}

std::vector<double> NextLogits::after(std::span<const int32_t> ids) {
  const auto context = static_cast<size_t>(run_.config.model.context);
  return read({ids.last(std::min(context, ids.size()))}).front();
}

std::vector<std::vector<double>> NextLogits::after_each(std::span<const std::vector<int32_t>> texts) {
  const auto context = static_cast<size_t>(run_.config.model.context);
  Windows windows;
  for (const std::vector<int32_t>& text : texts)
    windows.push_back(std::span(text).last(std::min(context, text.size())));
  return read(windows);
}

std::vector<std::vector<double>> NextLogits::read(const Windows& windows) {
  const bool alike = all_alike(windows);
  const Windows different = alike ? Windows{windows[0]} : windows;
  tape_.reset();
  const Var logits = cache_ ? step(different) : forward(different);
  if (cache_ != nullptr) {
    if (alike && windows.size() > 1) cache_->share(0);
    cached_.clear();
    for (const auto& window : windows) cached_.emplace_back(window.begin(), window.end());
  }
  const int64_t rows = static_cast<int64_t>(different.size()), width = logits.cols();
  std::vector<std::vector<double>> out(windows.size(),
                                       std::vector<double>(static_cast<size_t>(vocabulary_of(run_))));
  for (size_t b = 0; b < windows.size(); ++b) {
    const int64_t row = (logits.count() / width / rows) * (alike ? 1 : static_cast<int64_t>(b) + 1) - 1;
    with_real(tape_.dtype(), [&](auto zero) {
      std::copy_n(logits.v<decltype(zero)>() + row * width, out[b].size(), out[b].begin());
    });
  }
  return out;
}

// The whole windows; those of a window model are padded on the left.
Var NextLogits::forward(const Windows& windows) {
  const auto context = static_cast<size_t>(run_.config.model.context);
  const size_t length = run_.model->one_target() ? context : windows[0].size();
  input_.clear();
  for (const auto& window : windows) {
    input_.insert(input_.end(), length - window.size(), kPadId);
    input_.insert(input_.end(), window.begin(), window.end());
  }
  const Shape shape{static_cast<int64_t>(windows.size()), static_cast<int64_t>(length)};
  return run_.model->forward(tape_, {shape, DType::i32, input_.data()}, Rows::last);
}

// What the cache does not hold yet. The last id is always read, since its row is the answer.
Var NextLogits::step(const Windows& windows) {
  size_t same = windows[0].size() - 1;
  for (size_t b = 0; b < windows.size(); ++b)
    same = std::min(same, b < cached_.size() ? common_beginning(cached_[b], windows[b]) : 0);
  cache_->rewind(static_cast<int64_t>(same));
  input_.clear();
  for (const auto& window : windows)
    input_.insert(input_.end(), window.begin() + static_cast<std::ptrdiff_t>(same), window.end());
  const Shape shape{static_cast<int64_t>(windows.size()), static_cast<int64_t>(windows[0].size() - same)};
  return run_.model->step(tape_, {shape, DType::i32, input_.data()}, *cache_, Rows::last);
}

}  // namespace tril
