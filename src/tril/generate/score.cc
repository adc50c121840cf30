#include "tril/generate/score.h"

#include <algorithm>
#include <cmath>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/table.h"
#include "tril/generate/generate.h"
#include "tril/generate/next_logits.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// Adds the log-probability of `target` under row `row` of the logits.
void add_target(const LoadedRun& run, const Var& logits, int64_t row, int32_t target, Score& out) {
  std::vector<double> x(static_cast<size_t>(vocabulary_of(run)));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = logits.value().at(row * logits.cols() + static_cast<int64_t>(i));
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double value : x) sum += std::exp(value - top);
  const double logprob = x[static_cast<size_t>(target)] - top - std::log(sum);
  out.tokens.push_back({target, run.tokenizer->token_text(target), logprob});
  out.nats -= logprob;
}

void score_windows(const LoadedRun& run, Tape& tape, std::vector<int32_t>& ids, Score& out) {
  const int64_t context = out.context, count = static_cast<int64_t>(ids.size());
  std::vector<int32_t> padded(static_cast<size_t>(context), kPadId);
  padded.insert(padded.end(), ids.begin(), ids.end());
  for (int64_t t = 1; t < count; ++t) {
    interrupt::check();
    tape.reset();
    const Tensor window{{1, context}, DType::i32, padded.data() + t};
    add_target(run, run.model->forward(tape, window, Rows::last), 0, ids[static_cast<size_t>(t)], out);
  }
}

void score_blocks(const LoadedRun& run, Tape& tape, std::vector<int32_t>& ids, Score& out) {
  const int64_t targets = static_cast<int64_t>(ids.size()) - 1;
  for (int64_t start = 0; start < targets; start += out.context) {
    interrupt::check();
    const int64_t length = std::min(out.context, targets - start);
    tape.reset();
    const Tensor block{{1, length}, DType::i32, ids.data() + start};
    const Var logits = run.model->forward(tape, block, Rows::all);
    for (int64_t i = 0; i < length; ++i)
      add_target(run, logits, i, ids[static_cast<size_t>(start + i + 1)], out);
  }
}

}  // namespace

double Score::bits_per_byte() const {
  return nats / std::log(2.0) / static_cast<double>(bytes);
}

Score score(const LoadedRun& run, std::string_view text) {
  std::vector<int32_t> ids = prompt_ids(run, text);
  if (ids.size() < 2)
    refuse("the text has {}, needs {}: nothing to score",
           counted(static_cast<long long>(ids.size()) - (run.begins_with_bos ? 1 : 0), "token"),
           run.begins_with_bos ? 1 : 2);
  require_ids("text", {{static_cast<int64_t>(ids.size())}, DType::i32, ids.data()}, vocabulary_of(run),
              false);
  warn_of_beginnings(run, text, ids);
  warn_of_seen_targets(run);
  Score out;
  for (const UnknownToken& word : run.tokenizer->unknown(text)) out.unknown.push_back(word.text);
  if (!out.unknown.empty())
    log::warn("{} of the text not met in training, read as <UNK>; the first is {}",
              counted(static_cast<long long>(out.unknown.size()), "word"), in_quotes(out.unknown[0]));
  out.context = run.config.model.context;
  out.bytes = static_cast<int64_t>(run.tokenizer->normalized(text).size());
  out.lossy = run.tokenizer->lossy();
  Tape tape(tape_options(run.config.run, false));
  if (run.model->one_target()) {
    score_windows(run, tape, ids, out);
  } else {
    score_blocks(run, tape, ids, out);
  }
  return out;
}

}  // namespace tril
