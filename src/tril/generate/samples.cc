// Samples at the end of training.
#include "tril/generate/samples.h"

#include <algorithm>

#include "tril/generate/generate.h"
#include "tril/generate/sampler.h"
#include "tril/tensor/draws.h"

namespace tril {
namespace {

// The logits of the token after `ids`, which are at most `context`; a window is padded on the left.
std::vector<double> logits_after(Trainer& trainer, Tape& tape, const std::vector<int32_t>& ids) {
  const auto context = static_cast<size_t>(trainer.config().model.context);
  std::vector<int32_t> seen(ids.end() - static_cast<std::ptrdiff_t>(std::min(ids.size(), context)),
                            ids.end());
  if (trainer.model().one_target()) seen.insert(seen.begin(), context - seen.size(), kPadId);
  tape.reset();
  const Tensor input{{1, static_cast<int64_t>(seen.size())}, DType::i32, seen.data()};
  const Var logits = trainer.model().forward(tape, input, Rows::last);
  std::vector<double> last(static_cast<size_t>(logits.cols()));
  const int64_t first = logits.count() - logits.cols();
  for (size_t i = 0; i < last.size(); ++i) last[i] = logits.value().at(first + static_cast<int64_t>(i));
  return last;
}

// The token that stands before a document's first, and the one after its last.
struct Ends {
  int32_t first, last;
};
Ends ends_of(const Tokenizer& tokenizer, bool document_bounds) {
  const int32_t last =
      tokenizer.eos().value_or(tokenizer.end_of_document().value_or(tokenizer.bos().value_or(0)));
  const int32_t first = tokenizer.bos().value_or(last);
  return {first, document_bounds ? first : last};  // such a document stands between two BOS
}

}  // namespace

std::vector<std::string> training_samples(Trainer& trainer, const Tokenizer& tokenizer) {
  const Config& config = trainer.config();
  const bool python = config.train.random == "python";
  const Ends ends = ends_of(tokenizer, config.train.batches == "documents");
  SamplingRules rules;
  rules.temperature = config.train.sample_temperature;
  std::vector<int32_t> never = never_generated(tokenizer);
  std::erase(never, ends.last);
  Tape tape(tape_options(config.run, false));
  std::vector<std::string> texts;
  for (int64_t sample = 0; sample < config.train.samples; ++sample) {
    Draws draws(static_cast<uint64_t>(config.train.seed), static_cast<uint64_t>(sample));
    std::vector<int32_t> ids = {ends.first};
    for (int64_t position = 0; position < config.model.context; ++position) {
      const std::vector<double> logits = logits_after(trainer, tape, ids);
      const std::vector<double> chances =
          distribution(logits, rules, python ? std::vector<int32_t>{} : never, ids);
      const int32_t id = python && rules.temperature > 0
                             ? static_cast<int32_t>(trainer.python().choice(chances))
                             : pick(chances, draws.uniform());
      if (id == ends.last) break;
      ids.push_back(id);
    }
    texts.push_back(tokenizer.decode(std::span(ids).subspan(1)));
  }
  return texts;
}

}  // namespace tril
