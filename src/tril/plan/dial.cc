// The choices of the dial.
#include "tril/plan/dial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/progress.h"
#include "tril/base/table.h"
#include "tril/model/multiplies.h"
#include "tril/model/parameter_count.h"
#include "tril/train/time_budget.h"

namespace tril {
namespace {

constexpr double kTargetsAParameter = 20;
constexpr int64_t kBatch = 16, kContext = 128, kEvaluated = 20000;
constexpr size_t kProbe = 3;               // the size that is measured first
constexpr int64_t kProbeParts = 8;         // of its batch: measuring takes no more memory than what is chosen
constexpr const char* kRecipe = "modern";  // the best of docs/recipes.md: the choices that are not a size

// Of a file or a folder; a source that can't be asked (the tales, standard input) counts as a megabyte.
int64_t bytes_of(const DataSettings& data) {
  constexpr int64_t kUnknown = 1'000'000;
  namespace fs = std::filesystem;
  std::error_code error;
  if (data.path.empty() || data.path == "-" || data.path == "tales") return kUnknown;
  if (!fs::is_directory(data.path, error)) {
    const auto size = fs::file_size(data.path, error);
    return error ? kUnknown : static_cast<int64_t>(size);
  }
  int64_t sum = 0;
  for (const auto& entry : fs::directory_iterator(data.path, error))
    if (entry.is_regular_file(error)) sum += static_cast<int64_t>(entry.file_size(error));
  return sum;
}

int64_t targets_of(const Corpus& corpus, Part part) {
  return corpus.audit.parts[static_cast<size_t>(part)].targets;
}

// The longest power of two that leaves the training part eight blocks.
int64_t context_for(int64_t targets) {
  int64_t context = kContext;
  while (context > 8 && targets < 8 * context) context /= 2;
  return context;
}

std::string model_toml(const DialSize& size, int64_t context) {
  return fmt::format("[model]\nd_model = {}\nhidden = {}\nheads = {}\nlayers = {}\ncontext = {}\n",
                     size.d_model, 4 * size.d_model, size.heads, size.layers, context);
}

std::string data_toml(const DialTokenizer& tokenizer) {
  std::string text =
      fmt::format("[data]\ndocuments = \"auto\"\nsplit = \"auto\"\ntokenizer = \"{}\"\n", tokenizer.kind);
  if (tokenizer.vocabulary > 0) text += fmt::format("vocabulary = {}\n", tokenizer.vocabulary);
  return text;
}

std::string recipe_toml() {
  return fmt::format("[train]\nrecipe = \"{}\"\nbatch = {}\n", kRecipe, kBatch);
}

// The recipe's rate is that of 128 wide. It falls with the root of the width; more would not train, less
// would waste the time.
double rate_for(double recipes, int64_t d_model) {
  return recipes * std::clamp(std::sqrt(128.0 / static_cast<double>(d_model)), 0.5, 2.0);
}

// `steps` is about how many fit; the run may take up to ten times as many before its time is over.
std::string time_toml(double rate, double minutes, int64_t steps, int64_t evaluations) {
  return fmt::format(
      "minutes = {}\nsteps = {}\nschedule = \"trapezoid\"\nlearning_rate = {:.6f}\n"
      "min_learning_rate = 0.0\nwarmup = {}\neval_every = {}\neval_examples = {}\nlog_every = {}\n",
      minutes, 10 * steps, rate, std::clamp<int64_t>(steps / 20, 1, 100),
      std::max<int64_t>(1, steps / evaluations), kEvaluated, std::clamp<int64_t>(steps / 200, 1, 100));
}

double multiplies_a_step(const Config& config) {
  return training_multiplies(config.model, config.train.block) *
         static_cast<double>(config.train.batch * config.train.block);
}

double evaluated(const Config& config, const Corpus& corpus) {
  const auto all = static_cast<double>(targets_of(corpus, Part::kValidation));
  return config.train.eval_examples > 0 ? std::min(all, static_cast<double>(config.train.eval_examples))
                                        : all;
}

}  // namespace

std::vector<DialSize> dial_sizes() {
  return {{32, 2, 2},  {64, 2, 2},  {64, 2, 4},  {128, 4, 4},  {192, 6, 4},
          {256, 8, 6}, {384, 6, 6}, {512, 8, 8}, {768, 12, 12}};
}

DialTokenizer dial_tokenizer(int64_t bytes) {
  if (bytes < 200'000) return {"char", 0};
  if (bytes < 5'000'000) return {"bpe", 1024};
  if (bytes < 50'000'000) return {"bpe", 4096};
  return {"bpe", 8192};
}

size_t dial_size(const Config& base, double rate, double seconds) {
  const std::vector<DialSize> sizes = dial_sizes();
  size_t chosen = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    ModelConfig model = base.model;
    model.d_model = sizes[i].d_model, model.hidden = 4 * model.d_model;
    model.heads = model.kv_heads = sizes[i].heads, model.layers = sizes[i].layers;
    model.d_k = model.d_v = model.d_model;
    const double targets = seconds * rate / training_multiplies(model, base.train.block);
    if (targets >= kTargetsAParameter * static_cast<double>(parameter_count(model))) chosen = i;
  }
  return chosen;
}

void require_time(const Config& config, const Corpus& corpus, const Speed& speed) {
  constexpr double kSteps = 10;
  const double closing = speed.evaluation * static_cast<double>(targets_of(corpus, Part::kValidation));
  const double needed = program_seconds() + speed.start + kSteps * speed.step +
                        speed.evaluation * evaluated(config, corpus) + closing;
  if (needed <= 60 * config.train.minutes) return;
  const double enough = std::ceil(1.2 * needed / 60 * 100) / 100;
  refuse(
      "--minutes {} gives {:.1f} s, which is too short: reading the text, {} steps and one evaluation take "
      "about {:.1f} s here; --minutes {} would do",
      config.train.minutes, 60 * config.train.minutes, kSteps, needed, enough);
}

Dialled dial(const DialMake& make, double minutes, int ranks) {
  const std::vector<DialSize> sizes = dial_sizes();
  const double total = 60 * minutes, moment = std::min(1.0, total / 60);
  const DataSettings data = make("").data;
  const int64_t bytes = bytes_of(data);
  const DialTokenizer tokenizer = dial_tokenizer(bytes);
  const std::string text = data_toml(tokenizer);

  Dialled out;
  Config probe = make(text + model_toml(sizes[kProbe], kContext) + recipe_toml());
  out.corpus = std::make_shared<const Corpus>(build_corpus(probe.data));
  const int64_t vocabulary = out.corpus->tokenizer->vocab_size(),
                targets = targets_of(*out.corpus, Part::kTrain);
  const int64_t context = context_for(targets);
  const auto made = [&](size_t size, const std::string& more) {
    Config config = make(text + model_toml(sizes[size], context) + recipe_toml() + more);
    config.model.vocab_size = vocabulary;
    return config;
  };
  probe = made(kProbe, fmt::format("accumulate = {}\n", kProbeParts));
  Speed speed = measure_speed(probe, *out.corpus, moment);
  const double rate = ranks * multiplies_a_step(probe) / speed.step;
  const size_t size = dial_size(probe, rate, std::max(0.0, total - program_seconds()));
  Config share = made(size, "");
  share.train.batch = std::max<int64_t>(1, share.train.batch / ranks);
  speed = measure_speed(share, *out.corpus, moment);

  const double learning_rate = rate_for(probe.train.learning_rate, sizes[size].d_model);
  out.config = made(size, time_toml(learning_rate, minutes, 100, 10));
  require_time(out.config, *out.corpus, speed);
  const double closing = speed.evaluation * static_cast<double>(targets_of(*out.corpus, Part::kValidation));
  const double usable = total - program_seconds() - speed.start - closing;
  const double one = std::max(speed.evaluation * evaluated(out.config, *out.corpus), 1e-6);
  const auto evaluations = std::clamp<int64_t>(static_cast<int64_t>(0.05 * usable / one), 2, 20);
  const auto most = std::max<int64_t>(10, static_cast<int64_t>(usable / speed.step));
  out.config = made(size, time_toml(learning_rate, minutes, most, evaluations));
  const int64_t steps = steps_in(out.config, *out.corpus, speed, total - program_seconds());

  const ModelConfig& m = out.config.model;
  const int64_t parameters = parameter_count(m),
                seen = steps * out.config.train.batch * out.config.train.block;
  out.why = {
      fmt::format("text: {} gives a {} tokenizer of {} tokens (chars below 200 kB; BPE of 1,024 below 5 MB, "
                  "4,096 below 50 MB, then 8,192)",
                  short_bytes(static_cast<double>(bytes)), out.corpus->tokenizer->kind(),
                  with_commas(vocabulary)),
      fmt::format("machine: {} multiplications a second in training steps of {} layers, {} wide",
                  short_count(rate), sizes[kProbe].layers, sizes[kProbe].d_model),
      fmt::format("model: {} layers, {} wide, {} heads, context {}: {} parameters; the time is enough for "
                  "{} targets, {:.1f} for each (the largest that sees {} for each, or the smallest)",
                  m.layers, m.d_model, m.heads, m.context, with_commas(parameters),
                  short_count(static_cast<double>(seen)),
                  static_cast<double>(seen) / static_cast<double>(parameters), kTargetsAParameter),
      fmt::format("text again: {} targets to train on, so each is met about {:.1f} times",
                  with_commas(targets),
                  static_cast<double>(seen) / static_cast<double>(std::max<int64_t>(targets, 1))),
      fmt::format(
          "steps: about {} of {} blocks at rate {} by recipe {}, {:.1f} ms each; the number is settled "
          "when four fifths of the time are over",
          with_commas(steps), out.config.train.batch, out.config.train.learning_rate, out.config.train.recipe,
          1000 * speed.step)};
  return out;
}

}  // namespace tril
