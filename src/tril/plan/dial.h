// plan/dial: a whole configuration from a text and a time: tokenizer by the text's size, model by what the
// machine does in the time, and the rest by fixed rules (docs/dial.md). It measures for two seconds and says
// what it chose and why. What it leaves out: searching, and any model that is not a decoder.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tril/data/corpus.h"
#include "tril/plan/speed.h"
#include "tril/train/config.h"

namespace tril {

/// A model that the dial may choose, smallest first.
struct DialSize {
  int64_t d_model, heads, layers;
};
std::vector<DialSize> dial_sizes();

struct Dialled {
  Config config;  // resolved, with model.vocab_size set
  std::shared_ptr<const Corpus> corpus;
  std::vector<std::string> why;  // one line a choice
};

/// The tokenizer for a text of so many bytes: "char", or "bpe" with `vocabulary`.
struct DialTokenizer {
  std::string kind;
  int64_t vocabulary = 0;
};
DialTokenizer dial_tokenizer(int64_t bytes);

/// The largest size that, at `rate` multiplications a second, sees in `seconds` twenty targets for each of
/// its parameters (Hoffmann et al. 2022, section 3); the smallest where none does. `base` has everything but
/// the size.
size_t dial_size(const Config& base, double rate, double seconds);

/// Makes a configuration from choices in TOML: the text's settings and whatever the user set stand over them.
using DialMake = std::function<Config(const std::string& choices)>;

/// Reads the text that `make` names, measures, and chooses for a run that ends `minutes` after the program's
/// start and whose steps `ranks` like this process share. Throws Refusal where the time is too short
/// (require_time).
Dialled dial(const DialMake& make, double minutes, int ranks = 1);

/// Throws Refusal where config.train.minutes leave no time for a first evaluation and the last: how long they
/// take, and what would do.
void require_time(const Config& config, const Corpus& corpus, const Speed& speed);

}  // namespace tril
