// Tracing one prediction.
#include "tril/explore/trace.h"

#include <algorithm>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/suggest.h"
#include "tril/base/table.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// What the model sees of a text: its last `context` ids; a window model's are padded on the left.
TracedText window_of(const LoadedRun& run, const std::string& text) {
  TracedText seen;
  seen.text = text;
  std::vector<int32_t> ids = prompt_ids(run, text);  // refuses what a tokenizer without <UNK> can't read
  for (const UnknownToken& word : run.tokenizer->unknown(text)) {
    seen.unknown.push_back(word.text);
    log::warn("{} (word {} of the text) was not met in training: the model reads <UNK>", in_quotes(word.text),
              word.position + 1);
  }
  if (ids.empty()) refuse("the text is empty, and this model has no beginning token to start from");
  require_ids("text", {{static_cast<int64_t>(ids.size())}, DType::i32, ids.data()},
              run.config.model.vocab_size, false);
  const auto context = static_cast<size_t>(run.config.model.context);
  if (ids.size() > context) {
    log::warn("the text has {}, the model sees {}: it is read from token {} on",
              counted(static_cast<long long>(ids.size()), "token"), with_commas(run.config.model.context),
              with_commas(static_cast<long long>(ids.size() - context + 1)));
    ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(context));
  }
  if (run.model->one_target()) seen.padding = static_cast<int64_t>(context - ids.size());
  ids.insert(ids.begin(), static_cast<size_t>(seen.padding), kPadId);
  for (const int32_t id : ids) seen.tokens.push_back(run.tokenizer->token_text(id));
  seen.ids = std::move(ids);
  return seen;
}

// One text alone has no batch: [1, heads, T, T] becomes [heads, T, T].
Shape without_batch(const Shape& shape) {
  if (shape.rank() < 2 || shape[0] != 1) return shape;
  if (shape.rank() == 2) return {shape[1]};
  if (shape.rank() == 3) return {shape[1], shape[2]};
  return {shape[1], shape[2], shape[3]};
}

// "weights" means every value of that name, in any block.
bool speaks_of(const std::string& asked, const std::string& name) {
  return name == asked || name.ends_with("." + asked);
}

bool wanted(const std::string& name, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(),
                                      [&](const std::string& asked) { return speaks_of(asked, name); });
}

void require_known(const Tape& tape, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const auto& [name, value] : tape.named()) known.push_back(name);
  for (const std::string& asked : names) {
    if (std::any_of(known.begin(), known.end(),
                    [&](const std::string& name) { return speaks_of(asked, name); }))
      continue;
    for (const std::string& name : std::vector<std::string>(known))  // "wieghts" is near "weights" too
      known.push_back(name.substr(name.rfind('.') + 1));
    refuse("there is no value {}{}; --list names them all", in_quotes(asked), nearest_hint(asked, known));
  }
}

std::vector<Alternative> likeliest(const LoadedRun& run, std::span<const double> logits, int64_t top) {
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

// Shorter texts of a batch take copies of their last token behind them, which a causal model's earlier rows
// never see.
void fill_up(const ModelConfig& model, std::vector<TracedText>& texts) {
  size_t length = 0;
  for (const TracedText& text : texts) length = std::max(length, text.ids.size());
  for (TracedText& text : texts) {
    if (text.ids.size() == length) continue;
    if (model.mask != "causal")
      refuse(
          "the texts have {} and {} tokens; under model.mask = {} texts of one batch need equally many, or "
          "trace them "
          "one by one",
          length, text.ids.size(), in_quotes(model.mask));
    text.filling = static_cast<int64_t>(length - text.ids.size());
    text.ids.resize(length, text.ids.back());
    text.tokens.resize(length);
  }
}

// The row of each text's last token in the logits foresees the next one.
void foresee(const LoadedRun& run, const Tensor& logits, int64_t top, std::vector<TracedText>& texts) {
  const auto batch = static_cast<int64_t>(texts.size());
  const int64_t vocabulary = logits.shape.cols(), rows = logits.count() / vocabulary / batch;
  std::vector<double> last(static_cast<size_t>(vocabulary));
  for (int64_t b = 0; b < batch; ++b) {
    TracedText& text = texts[static_cast<size_t>(b)];
    const int64_t begin = ((b + 1) * rows - 1 - text.filling) * vocabulary;
    for (int64_t i = 0; i < vocabulary; ++i) last[static_cast<size_t>(i)] = logits.at(begin + i);
    text.next = likeliest(run, last, top);
  }
}

}  // namespace

Trace trace(const LoadedRun& run, std::span<const std::string> texts, const TraceOptions& options) {
  if (texts.empty()) refuse("trace needs a text");
  Trace traced;
  for (const std::string& text : texts) traced.texts.push_back(window_of(run, text));
  fill_up(run.config.model, traced.texts);
  std::vector<int32_t> ids;
  for (const TracedText& text : traced.texts) ids.insert(ids.end(), text.ids.begin(), text.ids.end());
  TapeOptions tape_wants = tape_options(run.config.run, false);
  tape_wants.trace = true;
  Tape tape(tape_wants);
  const auto batch = static_cast<int64_t>(texts.size());
  const Tensor input{{batch, static_cast<int64_t>(ids.size()) / batch}, DType::i32, ids.data()};
  const Var logits = run.model->forward(tape, input, Rows::all);
  require_known(tape, options.names);

  for (const auto& [name, value] : tape.named()) {
    if (!wanted(name, options.names)) continue;
    TracedValue& kept = traced.values.emplace_back();
    kept.name = name;
    kept.shape = batch == 1 ? without_batch(value.shape) : value.shape;
    if (!options.numbers) continue;
    kept.data.resize(static_cast<size_t>(value.count()));
    for (int64_t i = 0; i < value.count(); ++i) kept.data[static_cast<size_t>(i)] = value.at(i);
  }
  foresee(run, logits.value(), options.top, traced.texts);
  return traced;
}

}  // namespace tril
