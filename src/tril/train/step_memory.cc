// Activations, counted.
#include "tril/train/step_memory.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "tril/model/registry.h"
#include "tril/train/evaluation.h"
#include "tril/train/frozen.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// A batch of `examples` with ids and targets of 0, which every vocabulary has.
struct EmptyBatch {
  std::vector<int32_t> ids, targets;
  Batch batch;
  EmptyBatch(const ModelConfig& model, int64_t examples, int64_t block) {
    const bool decoder = model.family == "decoder";
    const int64_t length = decoder ? block : model.context;
    ids.assign(static_cast<size_t>(examples * length), 0);
    targets.assign(decoder ? ids.size() : static_cast<size_t>(examples), 0);
    const Shape shape{examples, length};
    batch.ids = {shape, DType::i32, ids.data()};
    batch.targets = {decoder ? shape : Shape{examples}, DType::i32, targets.data()};
  }
};

int64_t counted(const Config& config, TapeOptions options, int64_t examples, int64_t block) {
  options.counting = true;
  const std::unique_ptr<Model> model = make_model(config.model, dtype_of(config.run));
  if (options.record) freeze(model->parameters(), config);
  const EmptyBatch empty(config.model, examples, block);
  Tape tape(options);
  tape.promise(1);
  tape.backward(model->loss(tape, empty.batch, Reduce::mean).loss);
  return static_cast<int64_t>(tape.arena().most_used());
}

}  // namespace

int64_t step_bytes(const Config& config) {
  const int64_t parts = std::max<int64_t>(1, config.train.accumulate);
  return counted(config, training_tape(config), (config.train.batch + parts - 1) / parts, config.train.block);
}

int64_t evaluation_bytes(const Config& config, int64_t targets) {
  if (targets == 0) return 0;
  const int64_t positions = config.model.family == "decoder" ? std::min(config.model.context, targets) : 1;
  const int64_t examples = std::min(evaluation_batch(config.model, positions), targets / positions);
  return counted(config, tape_options(config.run, false), examples, positions);
}

}  // namespace tril
