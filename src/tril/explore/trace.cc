// Tracing one prediction.
#include "tril/explore/trace.h"

#include <algorithm>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// What the model sees of a text: its last `context` ids; a window model's are padded on the left.
std::vector<int32_t> window_of(const LoadedRun& run, const std::string& text) {
  for (const UnknownToken& word : run.tokenizer->unknown(text))
    log::warn("{} (word {} of the text) was not met in training: the model reads <UNK>", in_quotes(word.text),
              word.position + 1);
  std::vector<int32_t> ids = prompt_ids(run, text);
  if (ids.empty()) refuse("the text is empty, and this model has no beginning token to start from");
  const auto context = static_cast<size_t>(run.config.model.context);
  if (ids.size() > context) {
    log::warn("the text has {} tokens, the model sees the last {}", ids.size(), context);
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(context));
  }
  if (run.model->one_target()) ids.insert(ids.begin(), context - ids.size(), kPadId);
  return ids;
}

// One text alone has no batch: [1, heads, T, T] becomes [heads, T, T]. What has no batch (a table, a mask)
// stays.
Shape without_batch(const Shape& shape, bool alone) {
  if (!alone || shape.rank() < 2 || shape[0] != 1) return shape;
  switch (shape.rank()) {
    case 2:
      return {shape[1]};
    case 3:
      return {shape[1], shape[2]};
    default:
      return {shape[1], shape[2], shape[3]};
  }
}

std::vector<Alternative> most_likely(const LoadedRun& run, std::span<const double> logits, int64_t top) {
  const std::vector<double> p = probabilities(logits);
  std::vector<int32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return p[static_cast<size_t>(a)] > p[static_cast<size_t>(b)];
  });
  order.resize(std::min(order.size(), static_cast<size_t>(top)));
  std::vector<Alternative> found;
  for (const int32_t id : order)
    found.push_back({id, run.tokenizer->token_text(id), p[static_cast<size_t>(id)]});
  return found;
}

}  // namespace

Trace trace(const LoadedRun& run, std::span<const std::string> texts, int64_t top) {
  if (texts.empty()) refuse("trace needs a text");
  Trace traced;
  std::vector<int32_t> ids;
  size_t length = 0;
  for (const std::string& text : texts) {
    const std::vector<int32_t> window = window_of(run, text);
    if (length != 0 && window.size() != length)
      refuse("the texts have {} and {} tokens; texts of one batch need equally many", length, window.size());
    length = window.size();
    ids.insert(ids.end(), window.begin(), window.end());
    std::vector<std::string>& tokens = traced.tokens.emplace_back();
    for (const int32_t id : window) tokens.push_back(run.tokenizer->token_text(id));
  }
  TapeOptions options = tape_options(run.config.run, false);
  options.trace = true;
  Tape tape(options);
  const auto batch = static_cast<int64_t>(texts.size());
  const Tensor input{{batch, static_cast<int64_t>(length)}, DType::i32, ids.data()};
  const Var logits = run.model->forward(tape, input, Rows::all);

  for (const auto& [name, value] : tape.named()) {
    TracedValue& kept = traced.values.emplace_back();
    kept.name = name;
    kept.shape = without_batch(value.shape, batch == 1);
    kept.data.resize(static_cast<size_t>(value.count()));
    for (int64_t i = 0; i < value.count(); ++i) kept.data[static_cast<size_t>(i)] = value.at(i);
  }
  const int64_t vocabulary = logits.cols(), rows = logits.count() / vocabulary / batch;
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<double> last(static_cast<size_t>(vocabulary));
    for (int64_t i = 0; i < vocabulary; ++i)
      last[static_cast<size_t>(i)] = logits.value().at(((b + 1) * rows - 1) * vocabulary + i);
    traced.next.push_back(most_likely(run, last, top));
  }
  return traced;
}

}  // namespace tril
