#include "tril/train/evaluation.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tril/base/progress.h"
#include "tril/data/blocks.h"
#include "tril/data/windows.h"

namespace tril {
namespace {

// How many numbers a forward pass leaves on the tape for one example: every layer's values, and the logits.
int64_t numbers_of_an_example(const ModelConfig& config, int64_t positions) {
  const int64_t layers = config.family == "decoder" ? config.layers : 1;
  const int64_t length = config.family == "decoder" ? positions : config.context;
  const int64_t layer = length * (8 * config.d_model + config.heads * length);
  return layers * (layer + 2 * positions * config.hidden) + positions * config.vocab_size;
}

void add_batch(const Model& model, Tape& tape, const Batch& batch, Evaluation& sum) {
  const CrossEntropy out = model.loss(tape, batch, Reduce::sum);
  sum.nats += out.loss.value().at(0);
  sum.targets += out.counted;
  tape.reset();
}

void tell(Progress* progress, int64_t taken) {
  if (progress != nullptr) progress->update(taken, {}, static_cast<double>(taken), "targets");
}

Evaluation over_windows(const Model& model, Tape& tape, const Tokens& tokens, int64_t limit,
                        Progress* progress, const EvaluationShare& share) {
  const Windows windows(tokens, model.config().context, kPadId);
  const int64_t total = limit > 0 ? std::min(limit, windows.targets()) : windows.targets();
  const int64_t batch = evaluation_batch(model.config(), 1);
  std::vector<int64_t> which(static_cast<size_t>(batch));
  std::vector<int32_t> ids(static_cast<size_t>(batch * windows.context())), targets(which.size());
  Evaluation sum;
  for (int64_t start = 0; start < total; start += batch) {
    if (!share.takes(start / batch)) continue;
    const int64_t count = std::min(batch, total - start);
    std::iota(which.begin(), which.end(), start);
    windows.gather(std::span(which).first(static_cast<size_t>(count)), ids.data(), targets.data());
    add_batch(model, tape,
              {{{count, windows.context()}, DType::i32, ids.data()}, {{count}, DType::i32, targets.data()}},
              sum);
    tell(progress, start + count);
  }
  return sum;
}

Evaluation over_blocks(const Model& model, Tape& tape, const Tokens& tokens, int64_t limit,
                       Progress* progress, const EvaluationShare& share) {
  const int64_t have = static_cast<int64_t>(tokens.ids.size()) - 1;
  const int64_t context = std::min(model.config().context, have);
  const Blocks blocks(tokens.ids, context, "the part");
  const int64_t wanted = limit > 0 ? std::min(limit, have) : have;
  const int64_t batch = evaluation_batch(model.config(), context);
  std::vector<int32_t> ids(static_cast<size_t>(batch * context)), targets(ids.size());
  Evaluation sum;
  int64_t index = 0, taken = 0;
  for (int64_t number = 0; taken < wanted; ++number) {
    // Blocks of one batch have one length; the last, shorter one is a batch of its own.
    const int64_t length = blocks.consecutive(index).length;
    int64_t count = 0;
    while (count < batch && index < blocks.consecutive() && blocks.consecutive(index).length == length &&
           taken + count * length < wanted) {
      const auto at = static_cast<size_t>(count * length);
      const int64_t start = blocks.consecutive(index).start;
      std::copy_n(tokens.ids.begin() + start, length, ids.begin() + static_cast<int64_t>(at));
      std::copy_n(tokens.ids.begin() + start + 1, length, targets.begin() + static_cast<int64_t>(at));
      ++count, ++index;
    }
    taken += count * length;
    if (!share.takes(number)) continue;
    add_batch(model, tape,
              {{{count, length}, DType::i32, ids.data()}, {{count, length}, DType::i32, targets.data()}},
              sum);
    tell(progress, taken);
  }
  return sum;
}

}  // namespace

// Large enough to fill the machine, small enough to stay in its cache: from the sizes alone, 16 MB in f32.
int64_t evaluation_batch(const ModelConfig& config, int64_t positions) {
  constexpr int64_t kNumbers = int64_t{1} << 22;
  return std::clamp<int64_t>(kNumbers / std::max<int64_t>(1, numbers_of_an_example(config, positions)), 1,
                             2048);
}

std::optional<Evaluation> evaluate(const Model& model, Tape& tape, const Tokens& tokens, int64_t limit,
                                   Progress* progress, const EvaluationShare& share) {
  if (model.one_target()) {
    if (Windows(tokens, model.config().context, kPadId).targets() == 0) return std::nullopt;
    return over_windows(model, tape, tokens, limit, progress, share);
  }
  if (tokens.ids.size() < 2) return std::nullopt;
  return over_blocks(model, tape, tokens, limit, progress, share);
}

}  // namespace tril
