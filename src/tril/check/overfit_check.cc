// A model that can learn must be able to learn a few examples by heart: a fresh small one of the family, of
// width 32, on the first 16 targets.
#include <fmt/core.h>

#include <algorithm>

#include "tril/base/table.h"
#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/registry.h"
#include "tril/train/optimizer.h"
#include "tril/train/trainer.h"

namespace tril {

void check_overfit(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  constexpr int64_t kSteps = 220, kTargets = 16;
  if (subject.config.model.vocab_size == 1) return;  // its loss is 0 from the start
  ModelConfig c = subject.config.model;
  c.d_model = 32, c.hidden = 96, c.d_k = 0, c.d_v = 0, c.dropout = 0;
  c.layers = std::min<int64_t>(c.layers, 2);
  c.heads = std::min<int64_t>(c.heads, 8);
  while (32 % c.heads != 0) --c.heads;
  if (c.kv_heads != 0 && c.heads % c.kv_heads != 0) c.kv_heads = 0;
  const std::unique_ptr<Model> model = make_model(c, DType::f32);
  TorchGenerator random(31);
  model->initialize(random);
  TrainSettings settings;
  settings.optimizer = "adam";
  settings.learning_rate = 2e-2;
  Optimizer optimizer(model->parameters(), settings, Engine::fast);
  const Examples examples = first_targets(*model, *subject.corpus, kTargets);
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
            fmt::format("loss of a fresh small model of the family (width 32, {}, seed 31) after {} steps of "
                        "Adam at 0.02 on {}; before: {:.4f}",
                        counted(c.layers, "layer"), kSteps, examples.text(), before)));
}

}  // namespace tril
