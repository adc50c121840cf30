// A model that can learn must be able to learn a few examples by heart: a fresh one of width 32 on the first
// 16 targets.
#include <fmt/core.h>

#include <algorithm>

#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/registry.h"
#include "tril/train/optimizer.h"
#include "tril/train/trainer.h"

namespace tril {

void check_overfit(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  constexpr int64_t kSteps = 220, kExamples = 16;
  ModelConfig c = subject.config.model;
  c.d_model = 32, c.hidden = 96, c.d_k = 0, c.d_v = 0, c.dropout = 0;
  while (32 % c.heads != 0) --c.heads;
  if (c.kv_heads != 0 && c.heads % c.kv_heads != 0) c.kv_heads = 0;
  const std::unique_ptr<Model> model = make_model(c, DType::f32);
  TorchGenerator random(31);
  model->initialize(random);
  TrainSettings settings;
  settings.optimizer = "adam";
  settings.learning_rate = 2e-2;
  Optimizer optimizer(model->parameters(), settings, Engine::fast);
  const Examples examples = first_examples(*model, *subject.corpus, model->one_target() ? kExamples : 1);
  Tape tape;
  const auto loss_of = [&] {
    tape.reset();
    return model->loss(tape, examples.batch(), Reduce::mean).loss;
  };
  const double before = loss_of().value().at(0);
  for (int64_t step = 1; step <= kSteps; ++step) {
    model->parameters().zero_grads();
    tape.backward(loss_of());
    optimizer.update(step, settings.learning_rate, 0);
  }
  const double after = loss_of().value().at(0);
  rows.push_back(
      below("overfit", after, std::min(0.15, before / 10),
            fmt::format("loss after {} steps on {} targets (width 32, seed 31, Adam at 0.02); before: {:.4f}",
                        kSteps, model->one_target() ? examples.count : examples.length, before)));
}

}  // namespace tril
