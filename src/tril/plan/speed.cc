// Times of training, measured and guessed.
#include "tril/plan/speed.h"

#include <algorithm>
#include <vector>

#include "tril/base/clock.h"
#include "tril/model/multiplies.h"
#include "tril/ops/gemm.h"
#include "tril/train/trainer.h"

namespace tril {

int64_t targets_a_step(const Config& config) {
  return config.train.batch * (config.model.family == "decoder" ? config.train.block : 1);
}

Speed measure_speed(const Config& config, const Corpus& corpus, double seconds) {
  Speed speed;
  const double begun = steady_seconds();
  Trainer trainer(config, corpus);
  trainer.step();  // the first takes memory and writes code for the shapes
  const double started = steady_seconds();
  speed.start = started - begun;
  int64_t steps = 0;
  do {
    trainer.step();
    ++steps;
  } while (steady_seconds() - started < seconds);
  speed.step = (steady_seconds() - started) / static_cast<double>(steps);

  const int64_t some = std::max<int64_t>(targets_a_step(config), 1);
  const double before = steady_seconds();
  if (const auto found = trainer.evaluate(corpus.validation(), some))
    speed.evaluation =
        (steady_seconds() - before) / static_cast<double>(std::max<int64_t>(found->targets, 1));
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

double evaluated_targets(const Config& config, const Corpus& corpus) {
  const auto all = static_cast<double>(corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
  const TrainSettings& t = config.train;
  const double some = t.eval_examples > 0 ? std::min(static_cast<double>(t.eval_examples), all) : all;
  int64_t times = 1;  // at step 1
  if (t.steps > 1) times += t.steps / t.eval_every - (t.eval_every == 1 ? 1 : 0);
  if (t.steps > 1 && t.steps % t.eval_every != 0) ++times;
  return static_cast<double>(times) * some + (some < all ? all : 0);
}

int64_t steps_in(const Config& config, const Corpus& corpus, const Speed& speed, double seconds) {
  const auto all = static_cast<double>(corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets);
  const TrainSettings& t = config.train;
  const double some = t.eval_examples > 0 ? std::min(static_cast<double>(t.eval_examples), all) : all;
  const double once = speed.start + speed.evaluation * (2 * some + (some < all ? all : 0));  // first and last
  const double each = speed.step + speed.evaluation * some / static_cast<double>(t.eval_every);
  return std::clamp<int64_t>(static_cast<int64_t>((seconds - once) / each), 1, t.steps);
}

double run_seconds(const Config& config, const Corpus& corpus, const Speed& speed) {
  return speed.start + speed.step * static_cast<double>(config.train.steps) +
         speed.evaluation * evaluated_targets(config, corpus);
}

}  // namespace tril
