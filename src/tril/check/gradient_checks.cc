// Every gradient against central differences in double (h = 1e-4): all entries of a small model of the
// family, and a seeded choice of entries of the subject's own weights.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tril/autograd/gradient_check.h"
#include "tril/base/clock.h"
#include "tril/base/table.h"
#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/registry.h"
#include "tril/tensor/draws.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

constexpr int64_t kMostParameters = 10'000'000, kMostEntries = 64, kFewestEntries = 2;
constexpr double kLimit = 1e-6;

// A model in double, its loss on fixed examples, and which side of every ReLU the last forward pass was on.
class Probe {
 public:
  Probe(std::unique_ptr<Model> model, Examples examples)
      : model_(std::move(model)),
        examples_(std::move(examples)),
        tape_({Engine::reference, DType::f64, true, true}) {}

  Model& model() { return *model_; }
  const Examples& examples() const { return examples_; }
  double loss() {
    tape_.reset();
    const double value = model_->loss(tape_, examples_.batch(), Reduce::mean).loss.value().at(0);
    sides_ = 14695981039346656037u;
    for (const auto& [name, hidden] : tape_.named()) {
      if (!name.ends_with("hidden")) continue;
      for (double number : hidden.span<double>()) sides_ = (sides_ ^ (number > 0 ? 1u : 2u)) * 1099511628211u;
    }
    return value;
  }
  uint64_t sides() const { return sides_; }
  /// Seconds of one evaluation, which grow with the examples' numbers.
  double time_once() {
    const double start = steady_seconds();
    loss();
    return std::max(1e-6, steady_seconds() - start);
  }
  /// Keeps this share of the examples: of a block's tokens (at least two), or of the windows (at least one).
  void shorten(double share) {
    const int64_t all = examples_.one_target ? examples_.count : examples_.length;
    const auto kept = std::max<int64_t>(examples_.one_target ? 1 : 2,
                                        static_cast<int64_t>(share * static_cast<double>(all)));
    if (kept < all) examples_ = examples_.first_part(kept);
  }
  /// Only ReLU's slope jumps; that of ReLU² and of the smooth activations does not.
  bool has_kinks() const { return model_->one_target() || model_->config().activation == "relu"; }
  void backward() {
    model_->parameters().zero_grads();
    tape_.reset();
    tape_.backward(model_->loss(tape_, examples_.batch(), Reduce::mean).loss);
  }

 private:
  std::unique_ptr<Model> model_;
  Examples examples_;
  Tape tape_;
  uint64_t sides_ = 0;
};

struct Totals {
  double worst = 0;
  int64_t compared = 0, left_out = 0, not_finite = 0;
  std::string where;
};

// Entries of one tensor: all, or `count` seeded ones. The padding row of a window model is held at zero by
// design.
std::vector<int64_t> entries_of(Model& model, int i, int64_t count) {
  const Tensor value = model.parameters().value(i);
  const bool tokens = model.one_target() && model.parameters().info(i).name == "token_embedding.weight";
  const int64_t first = tokens ? value.shape.cols() : 0, have = value.count() - first;
  std::vector<int64_t> entries;
  if (count == 0 || have <= count) {
    for (int64_t n = 0; n < have; ++n) entries.push_back(first + n);
    return entries;
  }
  Draws draws(11, static_cast<uint64_t>(i));
  while (static_cast<int64_t>(entries.size()) < count) {
    const auto at = first + static_cast<int64_t>(draws.uniform() * static_cast<double>(have));
    if (std::find(entries.begin(), entries.end(), at) == entries.end()) entries.push_back(at);
  }
  return entries;
}

Totals compare(Probe& probe, int64_t entries_each) {
  Parameters& p = probe.model().parameters();
  probe.backward();
  Totals totals;
  for (int i = 0; i < p.size(); ++i) {
    for (double slope : p.grad(i).span<double>()) totals.not_finite += std::isfinite(slope) ? 0 : 1;
    const std::vector<int64_t> entries = entries_of(probe.model(), i, entries_each);
    GradientCheckOptions options;
    options.entries = entries;
    options.refine_above = kLimit / 4;
    if (probe.has_kinks()) options.kinks = [&] { return probe.sides(); };
    const GradientCheck check = check_gradient([&] { return probe.loss(); }, p.value(i), p.grad(i), options);
    totals.compared += check.compared;
    totals.left_out += check.left_out;
    if (std::isnan(totals.worst) || check.relative() <= totals.worst) continue;
    totals.worst = check.relative();
    totals.where = p.info(i).name;
  }
  return totals;
}

void tell(const Totals& t, const std::string& name, const std::string& of, std::vector<CheckRow>& rows) {
  CheckRow row =
      below(name, t.worst, kLimit,
            fmt::format(
                "largest |gradient - difference| over the tensor's largest gradient, {} entries of {}{}; {} "
                "left out at a ReLU's kink",
                t.compared, of, t.where.empty() ? "" : ", worst in " + t.where, t.left_out));
  const double share =
      static_cast<double>(t.left_out) / static_cast<double>(std::max<int64_t>(1, t.compared + t.left_out));
  row.passed = row.passed && share <= 0.05 && t.not_finite == 0;
  rows.push_back(row);
}

// The family at its smallest, with every switch of the subject.
std::unique_ptr<Model> small_model(const ModelConfig& subject, int64_t vocabulary) {
  ModelConfig c = subject;
  const int64_t heads = std::min<int64_t>(subject.heads, 2);
  c.kv_heads = subject.kv_heads == 0 || subject.kv_heads == subject.heads ? 0 : 1;
  c.heads = heads, c.d_model = 8, c.d_k = 0, c.d_v = 0, c.hidden = 6,
  c.layers = std::min<int64_t>(subject.layers, 2);
  c.context = std::min<int64_t>(subject.context, 5), c.dropout = 0, c.vocab_size = vocabulary;
  std::unique_ptr<Model> model = make_model(c, DType::f64);
  TorchGenerator random(11);
  model->initialize(random);
  return model;
}

// Ids folded into a small vocabulary; padding stays padding.
void fold(Examples& examples, int64_t vocabulary) {
  const auto folded = [&](int32_t id) {
    return id < vocabulary ? id : static_cast<int32_t>(1 + id % (vocabulary - 1));
  };
  for (int32_t& id : examples.ids) id = folded(id);
  for (int32_t& id : examples.targets) id = id < 0 ? id : folded(id);
}

void copy_to_double(const Parameters& from, Parameters& to) {
  for (int i = 0; i < to.size(); ++i)
    for (int64_t n = 0; n < to.value(i).count(); ++n) to.value(i).as<double>()[n] = from.value(i).at(n);
}

void own_weights(const CheckSubject& subject, double seconds, std::vector<CheckRow>& rows) {
  if (subject.model->parameters().count() > kMostParameters) return;
  ModelConfig config = subject.config.model;
  config.dropout = 0;
  std::unique_ptr<Model> copy = make_model(config, DType::f64);
  copy_to_double(subject.model->parameters(), copy->parameters());
  Examples examples = spread_examples(*copy, *subject.corpus, copy->one_target() ? 8 : 1);
  Probe probe(std::move(copy), std::move(examples));
  // One timed evaluation says how many entries fit; each entry takes two. Where the fewest don't, the block
  // is cut.
  const double fit_whole = seconds / (2 * probe.time_once() * probe.model().parameters().size());
  if (fit_whole < kFewestEntries) probe.shorten(fit_whole / kFewestEntries);
  const double fit = std::max(fit_whole, static_cast<double>(kFewestEntries));
  const auto each = static_cast<int64_t>(std::clamp(fit, double{kFewestEntries}, double{kMostEntries}));
  tell(compare(probe, each), "gradients", "these weights on " + probe.examples().text(), rows);
}

}  // namespace

void check_gradients(const CheckSubject& subject, std::vector<CheckRow>& rows, double seconds) {
  const int64_t vocabulary = std::min<int64_t>(subject.config.model.vocab_size, 13);
  std::unique_ptr<Model> small = small_model(subject.config.model, vocabulary);
  Examples examples = spread_examples(*small, *subject.corpus, 4);
  fold(examples, vocabulary);
  Probe probe(std::move(small), std::move(examples));
  const ModelConfig& c = probe.model().config();
  tell(compare(probe, 0), "gradients, small",
       fmt::format("a fresh small model of the family (width {}, {}, {}, seed 11) on {}", c.d_model,
                   counted(c.layers, "layer"), counted(c.vocab_size, "token"), probe.examples().text()),
       rows);
  own_weights(subject, seconds, rows);
}

}  // namespace tril
