#include "tril/generate/generate.h"

#include <algorithm>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/generate/next_logits.h"
#include "tril/generate/text_stream.h"
#include "tril/tensor/draws.h"
#include "tril/train/loop.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// What the model sees: the last `context` ids; a window model's are padded on the left.
std::vector<int32_t> visible(const LoadedRun& run, std::span<const int32_t> ids) {
  const auto context = static_cast<size_t>(run.config.model.context);
  const auto tail = ids.last(std::min(context, ids.size()));
  std::vector<int32_t> out;
  if (run.model->one_target()) out.assign(context - tail.size(), kPadId);
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

std::vector<Alternative> best(const LoadedRun& run, const std::vector<double>& p, int64_t count) {
  std::vector<int32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = static_cast<size_t>(std::min<int64_t>(count, static_cast<int64_t>(p.size())));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(kept), order.end(),
                    [&](int32_t a, int32_t b) {
                      const double pa = p[static_cast<size_t>(a)], pb = p[static_cast<size_t>(b)];
                      return pa != pb ? pa > pb : a < b;
                    });
  std::vector<Alternative> out;
  for (size_t i = 0; i < kept; ++i)
    out.push_back({order[i], run.tokenizer->token_text(order[i]), p[static_cast<size_t>(order[i])]});
  return out;
}

void warn_unknown(const LoadedRun& run, std::string_view prompt, Generated& out) {
  for (const UnknownToken& word : run.tokenizer->unknown(prompt)) {
    out.unknown.push_back(word.text);
    log::warn("prompt word {} (word {} of the prompt) was not met in training: the model reads <UNK>",
              in_quotes(word.text), word.position + 1);
  }
}

}  // namespace

std::vector<double> next_logits(const LoadedRun& run, Tape& tape, std::span<const int32_t> ids) {
  tape.reset();
  std::vector<int32_t> seen = visible(run, ids);
  const Tensor input{{1, static_cast<int64_t>(seen.size())}, DType::i32, seen.data()};
  const Var logits = run.model->forward(tape, input, Rows::last);
  std::vector<double> out(static_cast<size_t>(logits.cols()));
  const int64_t last = logits.count() - logits.cols();
  for (size_t i = 0; i < out.size(); ++i) out[i] = logits.value().at(last + static_cast<int64_t>(i));
  return out;
}

std::vector<int32_t> never_generated(const Tokenizer& tokenizer) {
  std::vector<int32_t> never;
  for (const std::optional<int32_t>& id : {tokenizer.pad(), tokenizer.bos(), tokenizer.unk()})
    if (id && id != tokenizer.eos()) never.push_back(*id);
  return never;
}

Generated generate(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options,
                   int64_t sample) {
  require_rules(options.rules);
  Generated out;
  warn_unknown(run, prompt, out);
  std::vector<int32_t> ids = prompt_ids(run, prompt);
  if (ids.empty())
    refuse("the prompt is empty, and this model has no beginning token to start from; give a prompt");
  require_ids("prompt", {{static_cast<int64_t>(ids.size())}, DType::i32, ids.data()},
              run.config.model.vocab_size, false);
  out.prompt_tokens = static_cast<int64_t>(ids.size());
  const int64_t context = run.config.model.context;
  if (out.prompt_tokens > context)
    log::warn("the prompt has {} tokens, the model sees {}: the first {} are not seen", out.prompt_tokens,
              context, out.prompt_tokens - context);
  const std::string before = run.tokenizer->decode(ids);

  const Draws draws(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(sample));
  std::vector<int32_t> never = never_generated(*run.tokenizer);
  const std::vector<int32_t>& ends = run.ends.ends;
  const auto is_end = [&](int32_t id) { return std::find(ends.begin(), ends.end(), id) != ends.end(); };
  std::erase_if(never, is_end);
  TextStream stream(before, options.stops, options.on_text);
  NextLogits model(run, options.cache);
  out.stopped = "length";
  for (int64_t step = 0; step < options.max_new_tokens; ++step) {
    if (interrupt::requested()) break;
    if (!options.slide_on_full && static_cast<int64_t>(ids.size()) >= context) {
      out.stopped = "context";
      break;
    }
    const std::vector<double> logits = model.after(ids);
    const std::vector<double> chances = distribution(logits, options.rules, never, ids);
    const int32_t id = pick(chances, draws.uniform_at(static_cast<uint64_t>(step)));
    if (is_end(id)) {
      out.stopped = "eos";
      break;
    }
    const std::vector<double> p = probabilities(logits);
    ids.push_back(id);
    out.tokens.push_back(
        {id, run.tokenizer->token_text(id), p[static_cast<size_t>(id)], best(run, p, options.top)});
    if (stream.show(run.tokenizer->decode(ids))) {
      out.stopped = "stop";
      break;
    }
  }
  stream.finish();
  out.continuation = stream.continuation();
  out.text = before + out.continuation;
  if (interrupt::requested()) throw Interrupted(interrupt::exit_code(), "interrupted");
  return out;
}

}  // namespace tril
