// generate: tokens one after another. The prompt's ids (BOS first where the model was trained with one), the
// model's logits for what comes next, one choice by the sampler's rules, append, again; until the end token,
// a stop text, the length, or a full context. What it leaves out: how a token is chosen (sampler.h) and how
// it is shown (cli/).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "tril/generate/sampler.h"
#include "tril/train/loaded_run.h"

namespace tril {

struct GenerateOptions {
  SamplingRules rules;
  int64_t max_new_tokens = 100;
  int64_t seed = 0;
  std::vector<std::string> stops;
  int64_t top = 0;            // how many alternatives to tell for each token
  bool cache = true;          // decoders: reuse keys and values
  bool slide_on_full = true;  // false: stop when the context is full
  /// Called once with the prompt as tokenized, as soon as all checks are passed.
  std::function<void(std::string_view)> on_prompt;
  /// Called with each new piece of the (first) continuation as soon as no later token can change it: whole
  /// UTF-8 characters, nothing that may belong to a stop text.
  std::function<void(std::string_view)> on_text;
};

struct Alternative {
  int32_t id;
  std::string text;
  double probability;
};
struct GeneratedToken {
  int32_t id;
  std::string text;
  double probability;  // softmax of the model's logits, before any rule
  std::vector<Alternative> alternatives;
};
struct Generated {
  std::string text;  // the prompt as tokenized, then the continuation; valid UTF-8, as each text here
  std::string continuation;
  int64_t prompt_tokens = 0;  // BOS counted
  std::vector<int32_t> prompt_ids;
  std::vector<std::string> unknown;
  std::vector<GeneratedToken> tokens;
  std::string stopped;  // eos | stop | length | context
};

/// `sample` numbers independent continuations of one seed. Warns of unknown prompt words and of a prompt that
/// is cut. Throws Refusal for rules out of range, an empty prompt where the model has nothing to begin from,
/// and Interrupted.
Generated generate(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options,
                   int64_t sample = 0);

/// The samples `first` to `first` + `count` − 1, some at a time side by side: the prompt is read once, and
/// each step reads the weights once for all of them. `take` gets them in order.
void generate_samples(const LoadedRun& run, std::string_view prompt, const GenerateOptions& options,
                      int64_t first, int64_t count, const std::function<void(Generated)>& take);

/// Warns of two begin tokens before a text, and of one that is written out where such names are plain text.
void warn_of_beginnings(const LoadedRun& run, std::string_view text, const std::vector<int32_t>& ids);

/// Ids that generation never gives: padding, BOS, unknown.
std::vector<int32_t> never_generated(const Tokenizer& tokenizer);

}  // namespace tril
