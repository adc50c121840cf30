#include "tril/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tril/base/error.h"
#include "tril/base/hex.h"
#include "tril/base/interrupt.h"
#include "tril/base/profile.h"
#include "tril/formats/peft.h"
#include "tril/model/lora.h"
#include "tril/model/registry.h"
#include "tril/train/base_model.h"
#include "tril/train/frozen.h"
#include "tril/train/schedule.h"
#include "tril/train/step_memory.h"

namespace tril {
namespace {

// Without the sign that some processors give a NaN.
double plain(double number) {
  return std::isnan(number) ? std::fabs(number) : number;
}

// How many windows, blocks or documents a batch has.
int64_t examples_of(const Batch& batch) {
  return batch.lengths.exists() ? batch.lengths.count() : batch.ids.shape[0];
}

// Documents [from, from + count) of a batch that has them one after the other.
Batch slice_documents(const Batch& batch, int64_t from, int64_t count) {
  const auto lengths = batch.lengths.span<int32_t>();
  const int64_t first = std::accumulate(lengths.begin(), lengths.begin() + from, int64_t{0});
  const int64_t rows = std::accumulate(lengths.begin() + from, lengths.begin() + from + count, int64_t{0});
  const auto part = [&](const Tensor& t) { return Tensor{{1, rows}, t.dtype, t.as<int32_t>() + first}; };
  return {part(batch.ids), part(batch.targets), {{count}, DType::i32, lengths.data() + from}};
}

// Examples [from, from + count) of a batch.
Batch slice(const Batch& batch, int64_t from, int64_t count) {
  if (batch.lengths.exists()) return slice_documents(batch, from, count);
  const auto rows = [&](const Tensor& t) {
    const int64_t width = t.shape.rank() == 1 ? 1 : t.shape.cols();
    const Shape shape = t.shape.rank() == 1 ? Shape{count} : Shape{count, width};
    return Tensor{shape, t.dtype, t.as<int32_t>() + from * width};
  };
  return {rows(batch.ids), rows(batch.targets)};
}

int64_t count_targets(const Tensor& targets) {
  int64_t counted = 0;
  for (int32_t target : targets.span<int32_t>()) counted += target >= 0 ? 1 : 0;
  return counted;
}

// What the largest step or evaluation takes, asked for at once: memory that grew in the first step would be
// taken twice, in pieces and then as one.
void take_memory(Arena& arena, Config config, const Corpus& corpus, int ranks) {
  config.train.batch = (config.train.batch + ranks - 1) / ranks;
  const int64_t validation = corpus.audit.parts[static_cast<size_t>(Part::kValidation)].targets;
  const int64_t bytes = std::max(step_bytes(config), evaluation_bytes(config, validation));
  arena.allocate(static_cast<size_t>(bytes + bytes / 8));  // pages that no step comes to cost nothing
  arena.rewind();
}

// Settings that the table of keys knows and training does not act on are refused, never passed over.
void require_supported(const Config& config, const Tokenizer& tokenizer) {
  if (config.model.family != "decoder" && tokenizer.pad() != kPadId)
    refuse(
        "model.family {} pads its windows with <PAD>, and a {} tokenizer has none; set data.tokenizer to "
        "word, "
        "or take the decoder family",
        config.model.family, tokenizer.kind());
}

}  // namespace

TapeOptions tape_options(const RunSettings& run, bool record) {
  return {run.engine == "reference" ? Engine::reference : Engine::fast, dtype_of(run), record, false};
}

DType dtype_of(const RunSettings& run) {
  return run.dtype == "f64" ? DType::f64 : DType::f32;
}

TapeOptions training_tape(const Config& config) {
  TapeOptions options = tape_options(config.run, true);
  options.recompute = config.train.recompute;
  return options;
}

Trainer::Trainer(const Config& config, const Corpus& corpus, const BaseModel* base, Parallel* parallel)
    : config_(config),
      torch_(static_cast<uint64_t>(config.train.seed)),
      python_(config.train.seed),
      model_(make_model(config.model, dtype_of(config.run))),
      tape_(training_tape(config)),
      parallel_(parallel) {
  require_supported(config, *corpus.tokenizer);
  if (config.train.batches == "documents")
    batches_ = make_document_batches(config_, corpus, document_order(config_, corpus, python_));
  if (base != nullptr) {
    base->copy_to(model_->parameters());
    if (config.model.lora.adapter.empty()) {
      draw_lora(model_->parameters(), torch_);
    } else {
      const PeftAdapter adapter(config.model.lora.adapter);
      adapter.require_of(config.model.lora);
      adapter.copy_to(config.model, model_->parameters());
    }
  } else if (config.train.random == "python") {
    model_->initialize(python_);
  } else {
    model_->initialize(torch_);
  }
  if (batches_ == nullptr) batches_ = make_batches(config_, corpus, torch_);
  freeze(model_->parameters(), config_);
  optimizer_ = std::make_unique<Optimizer>(model_->parameters(), config_.train, tape_.engine());
  take_memory(tape_.arena(), config_, corpus, parallel_ != nullptr ? parallel_->count() : 1);
  if (parallel_ != nullptr) sum_.emplace(model_->parameters(), parallel_->ranks());
}

double Trainer::gather_gradients(const Batch& batch, int64_t& counted) {
  const int64_t parts = std::min(config_.train.accumulate, examples_of(batch));
  counted = count_targets(batch.targets);
  if (parts <= 1 && parallel_ == nullptr) {
    tape_.set_draws(draws_seed(), draws_step());
    const CrossEntropy out = run_both_ways(batch, Reduce::mean, 1);
    return out.loss.value().at(0);
  }
  const double share = counted == 0 ? 0 : 1.0 / static_cast<double>(counted);
  return gather_parts(batch, std::max<int64_t>(parts, 1), share) * share;
}

// Parts of an accumulated batch, and ranks' pieces of a part, are summed and weighed by the whole batch's
// count of targets, so that they equal one large batch also where their own counts differ. A piece takes the
// dropout that its examples would have in the whole part.
double Trainer::gather_parts(const Batch& batch, int64_t parts, double share) {
  const int64_t rows = examples_of(batch);
  const int64_t rank = parallel_ ? parallel_->rank() : 0, ranks = parallel_ ? parallel_->count() : 1;
  double nats = 0;
  if (sum_) sum_->begin();
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t start = rows * part / parts, size = rows * (part + 1) / parts - start;
    const int64_t from = size * rank / ranks, count = size * (rank + 1) / ranks - from;
    if (count == 0) continue;
    tape_.set_draws(draws_seed(), draws_step() + static_cast<uint64_t>(part));
    tape_.set_place(from, count);
    if (sum_ && part + 1 == parts) tape_.watch(model_->parameters(), *sum_);
    const CrossEntropy out = run_both_ways(slice(batch, start + from, count), Reduce::sum, share);
    nats += out.loss.value().at(0);
    tape_.reset();
  }
  return sum_ ? sum_over_ranks(nats) : nats;
}

// A signal that came to one rank stops all of them, by rank 0.
double Trainer::sum_over_ranks(double nats) {
  sum_->finish();
  double both[] = {nats, interrupt::requested() ? 1.0 : 0.0};
  parallel_->ranks().sum(both, 2);
  if (both[1] > 0 && parallel_->leads() && !interrupt::requested()) std::raise(SIGTERM);
  return both[0];
}

CrossEntropy Trainer::run_both_ways(const Batch& batch, Reduce reduce, double share) {
  CrossEntropy out;
  {
    const ProfilePhase phase("forward");
    tape_.promise(share);
    out = model_->loss(tape_, batch, reduce);
  }
  const ProfilePhase phase("backward");
  tape_.backward(out.loss, share);
  return out;
}

Batch Trainer::next_batch() {
  const ProfilePhase phase("next batch, gradients to zero");
  model_->parameters().zero_grads();
  tape_.reset();
  return batches_->next();
}

void Trainer::set_schedule(const TrainSettings& settings) {
  if (parallel_ != nullptr && parallel_->leads()) {
    parallel_->order({Order::kSchedule, 0, settings.steps, settings.warmup, settings.cooldown});
    parallel_->done();
  }
  config_.train = settings;
}

// Rank 0 says what comes, the others have heard it; before the first they take its state.
void Trainer::begin_together(const Order& order) {
  if (parallel_ == nullptr) return;
  if (parallel_->leads()) parallel_->order(order);
  if (!shared_) share_state();
  shared_ = true;
}

// What a checkpoint would hold.
void Trainer::share_state() {
  Ranks& ranks = parallel_->ranks();
  Checkpoint here;
  describe(here);
  for (const auto* tensors : {&here.model, &here.optimizer})
    for (const StoredTensor& t : *tensors)
      ranks.broadcast(const_cast<char*>(t.bytes.data()), static_cast<int64_t>(t.bytes.size()));
  ranks.broadcast(&steps_done_, sizeof steps_done_);
  std::string text = generators().dump();
  ranks.broadcast_text(text);
  set_generators(nlohmann::json::parse(text), "rank 0");
}

StepResult Trainer::step() {
  begin_together({Order::kStep});
  const int64_t step = steps_done_ + 1;
  const Batch batch = next_batch();
  StepResult result{step, 0, 0, learning_rate_at(config_.train, step), 0};
  result.loss = gather_gradients(batch, result.targets);
  if (parallel_ != nullptr) parallel_->done();
  {
    const ProfilePhase phase("gradient norm");
    result.gradient_norm = optimizer_->gradient_norm();
  }
  if (!std::isfinite(result.loss) || !std::isfinite(result.gradient_norm))
    stop_non_finite(step, result.loss, result.gradient_norm);
  const ProfilePhase phase("optimizer");
  optimizer_->update(step, result.learning_rate, result.gradient_norm);
  steps_done_ = step;
  return result;
}

std::optional<Evaluation> Trainer::evaluate(const Tokens& tokens, int64_t limit, Progress* progress) {
  begin_together({Order::kEvaluate, limit});
  const EvaluationShare share =
      parallel_ ? EvaluationShare{parallel_->rank(), parallel_->count()} : EvaluationShare{};
  tape_.reset();
  tape_.set_recording(false);
  std::optional<Evaluation> found = tril::evaluate(*model_, tape_, tokens, limit, progress, share);
  tape_.reset();
  tape_.set_recording(true);
  if (parallel_ == nullptr) return found;
  if (found) {
    double both[] = {found->nats, static_cast<double>(found->targets)};
    parallel_->ranks().sum(both, 2);
    found = Evaluation{both[0], static_cast<int64_t>(both[1])};
  }
  parallel_->done();
  return found;
}

void Trainer::stop_non_finite(int64_t step, double loss, double norm) const {
  const Parameters& p = model_->parameters();
  std::string where = "the loss";
  for (int i = 0; i < 2 * p.size(); ++i) {  // weights first: a bad one makes every gradient bad
    const Tensor t = i < p.size() ? p.value(i) : p.grad(i - p.size());
    bool bad = false;
    for (int64_t n = 0; n < t.count() && !bad; ++n) bad = !std::isfinite(t.at(n));
    if (!bad) continue;
    where = (i < p.size() ? "the weights " : "the gradient of ") + p.info(i % p.size()).name;
    break;
  }
  throw NonFinite(
      fmt::format("training stopped at step {}: loss {}, gradient norm {}; the first tensor with a NaN or an "
                  "infinity is {}. "
                  "Try a smaller train.learning_rate (it is {}) or train.clip",
                  step, plain(loss), plain(norm), where, config_.train.learning_rate));
}

void Trainer::describe(Checkpoint& checkpoint) const {
  const Parameters& p = model_->parameters();
  checkpoint.step = steps_done_;
  checkpoint.model.clear();
  checkpoint.optimizer.clear();
  for (int i = 0; i < p.size(); ++i) checkpoint.model.push_back(stored(p.info(i).name, p.value(i)));
  for (const bool second : {false, true}) {
    for (int i = 0; i < p.size(); ++i) {
      if (p.info(i).frozen || (second && !optimizer_->has_moment2(i))) continue;
      checkpoint.optimizer.push_back(stored((second ? "v." : "m.") + p.info(i).name,
                                            second ? optimizer_->moment2(i) : optimizer_->moment1(i)));
    }
  }
}

nlohmann::json Trainer::generators() const {
  return {{"torch", to_hex(torch_.state())},
          {"python", to_hex(python_.state())},
          {"batches", to_hex(batches_->state())}};
}

void Trainer::restore(const LoadedCheckpoint& checkpoint, const nlohmann::json& generators) {
  Checkpoint here;
  describe(here);
  const auto specs = [](const std::vector<StoredTensor>& tensors) {
    std::vector<TensorSpec> all;
    for (const StoredTensor& t : tensors) all.push_back({t.name, t.type, t.shape});
    return all;
  };
  require_tensors(checkpoint.model(), specs(here.model));
  require_tensors(checkpoint.optimizer(), specs(here.optimizer));
  const auto take = [](const SafetensorsFile& file, const StoredTensor& to) {
    const StoredTensor* from = file.find(to.name);
    std::copy(from->bytes.begin(), from->bytes.end(), const_cast<char*>(to.bytes.data()));
  };
  for (const StoredTensor& t : here.model) take(checkpoint.model(), t);
  for (const StoredTensor& t : here.optimizer) take(checkpoint.optimizer(), t);
  set_generators(generators, checkpoint.folder());
  steps_done_ = checkpoint.step();
}

void Trainer::set_generators(const nlohmann::json& generators, const std::string& where) {
  const auto state = [&](const char* name) {
    const auto found = generators.find(name);
    if (found == generators.end() || !found->is_string())
      refuse("{}: state.json holds no generator '{}'", where, name);
    return from_hex(found->get<std::string>(), where + "/state.json");
  };
  torch_.set_state(state("torch"));
  python_.set_state(state("python"));
  batches_->set_state(state("batches"));
}

}  // namespace tril
