#include "tril/generate/generate.h"

#include <algorithm>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/interrupt.h"
#include "tril/base/log.h"
#include "tril/base/quote.h"
#include "tril/base/table.h"
#include "tril/generate/next_logits.h"
#include "tril/generate/text_stream.h"
#include "tril/tensor/draws.h"
#include "tril/text/token_decoder.h"
#include "tril/train/loop.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

constexpr int64_t kSideBySide = 8;  // samples in one pass: caches take memory

std::vector<Alternative> best(const LoadedRun& run, const std::vector<double>& p, int64_t count) {
  if (count == 0) return {};
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

std::vector<std::string> unknown_words(const LoadedRun& run, std::string_view prompt) {
  constexpr size_t kTold = 10;
  std::vector<std::string> words;
  for (const UnknownToken& word : run.tokenizer->unknown(prompt)) {
    words.push_back(word.text);
    if (words.size() > kTold) continue;
    log::warn("prompt word {} (word {} of the prompt) was not met in training: the model reads <UNK>",
              in_quotes(word.text), word.position + 1);
  }
  if (words.size() > kTold)
    log::warn("and {} of the prompt not met",
              counted(static_cast<long long>(words.size() - kTold), "more word"));
  return words;
}

bool is_one_of(int32_t id, const std::vector<int32_t>& ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// One continuation on its way. Which ids it has is kept beside it, so that the penalty need not look for
// them.
struct Sample {
  Sample(const LoadedRun& run, const Generated& beginning, const GenerateOptions& options, int64_t number,
         std::function<void(std::string_view)> on_text)
      : made(beginning),
        draws(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(number)),
        decoder(make_decoder(*run.tokenizer)),
        stream(options.stops, std::move(on_text)),
        has(static_cast<size_t>(vocabulary_of(run))) {
    std::string prompt;
    for (const int32_t id : made.prompt_ids) {
      prompt += decoder->push(id);
      see(id);
    }
    made.text = stream.begin(prompt);
  }

  void see(int32_t id) {
    if (has[static_cast<size_t>(id)]) return;
    has[static_cast<size_t>(id)] = true;
    seen.push_back(id);
  }

  bool ended() const { return !made.stopped.empty(); }

  /// The first reason counts.
  void finish(const char* why) {
    if (ended()) return;
    made.stopped = why;
    stream.finish();
    made.continuation = stream.continuation();
    made.text += made.continuation;
  }

  Generated made;
  Draws draws;
  std::unique_ptr<TokenDecoder> decoder;
  TextStream stream;
  std::vector<bool> has;
  std::vector<int32_t> seen;
};

// Samples of one prompt side by side. Those at the end of the batch leave it when they have ended.
class Generation {
 public:
  Generation(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options, int64_t count)
      : run_(run),
        options_(options),
        ends_(run.ends.ends),
        beginning_(begin(prompt)),
        model_(run, options.cache, std::min(count, kSideBySide),
               beginning_.prompt_tokens + std::min(options.max_new_tokens, run.config.model.context)) {
    never_ = never_generated(*run.tokenizer);
    std::erase_if(never_, [&](int32_t id) { return is_one_of(id, ends_); });
  }

  void samples(int64_t first, int64_t count, const std::function<void(Generated)>& take) {
    for (int64_t at = first; at < first + count; at += kSideBySide)
      for (Generated& made : side_by_side(at, std::min(kSideBySide, first + count - at), at == first))
        take(std::move(made));
  }

 private:
  Generated begin(std::string_view prompt) const;
  std::vector<Generated> side_by_side(int64_t first, int64_t count, bool shows_first);
  const char* choose(Sample& sample, std::vector<int32_t>& ids, const std::vector<double>& logits) const;

  const LoadedRun& run_;
  const GenerateOptions& options_;
  std::vector<int32_t> ends_, never_;
  Generated beginning_;
  NextLogits model_;
};

Generated Generation::begin(std::string_view prompt) const {
  require_rules(options_.rules);
  Generated beginning;
  std::vector<int32_t> ids = prompt_ids(run_, prompt);
  if (ids.empty())
    refuse("the prompt is empty, and this model has no beginning token to start from; give a prompt");
  require_ids("prompt", {{static_cast<int64_t>(ids.size())}, DType::i32, ids.data()}, vocabulary_of(run_),
              false);
  beginning.unknown = unknown_words(run_, prompt);
  warn_of_beginnings(run_, prompt, ids);
  beginning.prompt_tokens = static_cast<int64_t>(ids.size());
  const int64_t context = run_.config.model.context;
  if (beginning.prompt_tokens > context)
    log::warn("the prompt has {}, the model sees {}: it is read from token {} on",
              counted(beginning.prompt_tokens, "token"), with_commas(context),
              with_commas(beginning.prompt_tokens - context + 1));
  beginning.prompt_ids = std::move(ids);
  return beginning;
}

// Appends the next token, or says why there is none.
const char* Generation::choose(Sample& sample, std::vector<int32_t>& ids,
                               const std::vector<double>& logits) const {
  const int32_t id = draw(logits, options_.rules, never_, sample.seen, sample.draws.uniform());
  if (is_one_of(id, ends_)) return "eos";
  const std::vector<double> p = probabilities(logits);
  ids.push_back(id);
  sample.see(id);
  sample.made.tokens.push_back(
      {id, run_.tokenizer->token_text(id), p[static_cast<size_t>(id)], best(run_, p, options_.top)});
  return sample.stream.push(sample.decoder->push(id)) ? "stop" : nullptr;
}

std::vector<Generated> Generation::side_by_side(int64_t first, int64_t count, bool shows_first) {
  std::vector<std::unique_ptr<Sample>> samples;
  for (int64_t b = 0; b < count; ++b)
    samples.push_back(std::make_unique<Sample>(run_, beginning_, options_, first + b,
                                               b == 0 && shows_first ? options_.on_text : nullptr));
  if (shows_first && options_.on_prompt) options_.on_prompt(samples[0]->made.text);
  std::vector<std::vector<int32_t>> texts(static_cast<size_t>(count), beginning_.prompt_ids);
  const int64_t context = run_.config.model.context;
  for (int64_t step = 0; !texts.empty(); ++step) {
    const auto length = static_cast<int64_t>(texts[0].size());
    const bool full = !options_.slide_on_full && length >= context;
    if (step == options_.max_new_tokens || full || interrupt::requested()) {
      for (const auto& sample : samples)
        sample->finish(step == options_.max_new_tokens ? "length" : "context");
      break;
    }
    const auto logits = model_.after_each(texts);
    for (size_t b = 0; b < texts.size(); ++b) {
      const char* why = samples[b]->ended() ? nullptr : choose(*samples[b], texts[b], logits[b]);
      if (why != nullptr) samples[b]->finish(why);
      texts[b].resize(static_cast<size_t>(length) + 1, texts[b].back());  // one that has ended marks time
    }
    while (!texts.empty() && samples[texts.size() - 1]->ended()) texts.pop_back();
  }
  if (interrupt::requested()) throw Interrupted(interrupt::exit_code(), "interrupted");
  std::vector<Generated> made;
  for (const auto& sample : samples) made.push_back(std::move(sample->made));
  return made;
}

}  // namespace

void warn_of_beginnings(const LoadedRun& run, std::string_view text, const std::vector<int32_t>& ids) {
  const std::optional<int32_t> bos = run.tokenizer->bos();
  if (!bos || run.tokenizer->kind() != "bpe") return;
  const std::string name = run.tokenizer->token_text(*bos);
  if (ids.size() > 1 && ids[0] == *bos && ids[1] == *bos)
    log::warn("the text begins with {} twice: the model never met two begin tokens", in_quotes(name));
  if (run.specials == Specials::kAsText && text.starts_with(name))
    log::warn("the text begins with {}, which is read as plain text{}; --specials reads it as the token",
              in_quotes(name), run.begins_with_bos ? " behind the model's own begin token" : "");
}

std::vector<int32_t> never_generated(const Tokenizer& tokenizer) {
  std::vector<int32_t> never;
  for (const std::optional<int32_t>& id : {tokenizer.pad(), tokenizer.bos(), tokenizer.unk()})
    if (id && id != tokenizer.eos()) never.push_back(*id);
  return never;
}

Generated generate(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options,
                   int64_t sample) {
  Generated made;
  generate_samples(run, prompt, options, sample, 1, [&](Generated one) { made = std::move(one); });
  return made;
}

void generate_samples(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options,
                      int64_t first, int64_t count, const std::function<void(Generated)>& take) {
  Generation(run, prompt, options, count).samples(first, count, take);
}

}  // namespace tril
