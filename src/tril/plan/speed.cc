// Times of training, measured and guessed.
#include "tril/plan/speed.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tril/base/clock.h"
#include "tril/model/multiplies.h"
#include "tril/ops/gemm.h"
#include "tril/train/trainer.h"

namespace tril {

int64_t targets_a_step(const Config& config) {
  return config.train.batch * (config.model.family == "decoder" ? config.train.block : 1);
}

namespace {

// Seconds for one target: the larger of as many evaluations as fit into `seconds`, each of four times the
// targets. The first writes code for the shapes and does not count.
double evaluation_speed(Trainer& trainer, const Tokens& tokens, double seconds) {
  const double begun = steady_seconds();
  if (!trainer.evaluate(tokens, 1)) return 0;
  for (int64_t some = 1;; some *= 4) {
    const double before = steady_seconds();
    const int64_t targets = trainer.evaluate(tokens, some)->targets;
    const double now = steady_seconds();
    if (targets < some || now - begun + 4 * (now - before) > seconds)
      return (now - before) / static_cast<double>(std::max<int64_t>(targets, 1));
  }
}

// Of the evaluations at steps; the last evaluation is over all of the validation part.
double some_targets(const TrainSettings& settings, double all) {
  return settings.eval_examples > 0 ? std::min(static_cast<double>(settings.eval_examples), all) : all;
}

double validation_targets(const Corpus& corpus) {
  return static_cast<double>(corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
}

}  // namespace

Speed measure_speed(const Config& config, const Corpus& corpus, double seconds, const SpeedProbe& probe) {
  Speed speed;
  const double begun = steady_seconds();
  Config one_sample = config;
  one_sample.train.samples = std::min<int64_t>(config.train.samples, 1);
  Trainer trainer(one_sample, corpus, probe.base.get());
  trainer.step();  // the first takes memory and writes code for the shapes
  const double started = steady_seconds();
  speed.start = started - begun;
  int64_t steps = 0;
  do {
    trainer.step();
    ++steps;
  } while (steady_seconds() - started < seconds && steps < config.train.steps);
  speed.step = (steady_seconds() - started) / static_cast<double>(steps);
  speed.evaluation = evaluation_speed(trainer, corpus.validation(), seconds / 2);
  if (!probe.folder.empty()) speed.saving = measure_saving(trainer, probe.folder);
  if (probe.sample && config.train.samples > 0) {
    const double before = steady_seconds();
    probe.sample(trainer);
    speed.sample = steady_seconds() - before;
  }
  return speed;
}

double product_rate() {
  constexpr int64_t kSize = 256;
  constexpr double kSeconds = 0.01;
  const std::vector<float> a(kSize * kSize, 0.5F), b(kSize * kSize, 0.25F);
  std::vector<float> c(kSize * kSize);
  const Gemm square{.m = kSize, .n = kSize, .k = kSize};
  gemm(square, a.data(), b.data(), c.data());
  const double begun = steady_seconds();
  int64_t products = 0;
  do {
    gemm(square, a.data(), b.data(), c.data());
    ++products;
  } while (steady_seconds() - begun < kSeconds);
  return static_cast<double>(products * kSize * kSize * kSize) / (steady_seconds() - begun);
}

// Products are about half of a step's time in small models, and the others' kernels are less square.
Speed guess_speed(const Config& config) {
  constexpr double kShare = 0.4;
  const double rate = kShare * product_rate();
  Speed speed;
  speed.step = training_multiplies(config.model, config.train.block) *
               static_cast<double>(targets_a_step(config)) / rate;
  speed.evaluation = forward_multiplies(config.model, config.model.context) / rate;
  return speed;
}

int64_t checkpoints_of(const TrainSettings& t) {
  const int64_t often = t.checkpoint_every > 0 ? t.checkpoint_every : t.steps + 1;
  const int64_t at_both =
      t.steps / t.eval_every > 0 && t.steps / often > 0 ? t.steps / std::lcm(t.eval_every, often) : 0;
  const auto counted = [&](int64_t step) { return step % t.eval_every == 0 || step % often == 0; };
  int64_t count = t.steps / t.eval_every + t.steps / often - at_both;
  if (!counted(1)) ++count;
  if (t.steps > 1 && !counted(t.steps)) ++count;
  return count;
}

double evaluated_targets(const Config& config, const Corpus& corpus) {
  const double all = validation_targets(corpus), some = some_targets(config.train, all);
  TrainSettings evaluations = config.train;
  evaluations.checkpoint_every = 0;  // then there are as many of the ones as of the others
  return static_cast<double>(checkpoints_of(evaluations)) * some + (some < all ? all : 0);
}

int64_t steps_in(const Config& config, const Corpus& corpus, const Speed& speed, double seconds) {
  const TrainSettings& t = config.train;
  const double some = some_targets(t, validation_targets(corpus));
  const double stop = speed.evaluation * some + speed.saving.checkpoint;
  const double each = speed.step + stop / static_cast<double>(t.eval_every) +
                      speed.saving.line / static_cast<double>(t.log_every);
  Config least = config;
  least.train.steps = 2;  // a stop at each
  const double once = run_seconds(least, corpus, speed).total() - speed.step;
  return std::clamp<int64_t>(static_cast<int64_t>((seconds - once) / each), 1, t.steps);
}

RunSeconds run_seconds(const Config& config, const Corpus& corpus, const Speed& speed) {
  constexpr double kFiles = 4;  // config.toml, tokenizer.json, data.json, result.json
  const TrainSettings& t = config.train;
  return {.start = speed.start,
          .train = speed.step * static_cast<double>(t.steps - 1),
          .eval = speed.evaluation * evaluated_targets(config, corpus),
          .files = speed.saving.checkpoint * static_cast<double>(checkpoints_of(t)) +
                   speed.saving.line * static_cast<double>(t.steps / t.log_every) +
                   kFiles * speed.saving.file,
          .samples = speed.sample * static_cast<double>(t.samples)};
}

}  // namespace tril
