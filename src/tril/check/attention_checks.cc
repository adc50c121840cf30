// What attention must do, measured on examples of the subject's own corpus with its own weights: nothing of
// the future, rows that sum to 1, the weights of the formula, causality by editing the future, one query
// equal to all, and what position rows are for.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/window_attention.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

constexpr int64_t kExamples = 32;

// A forward pass over all rows whose named values are kept.
class Traced {
 public:
  Traced(const Model& model, const RunSettings& run, const Tensor& ids) : tape_(options(run)) {
    logits_ = model.forward(tape_, ids, Rows::all);
    for (const auto& [name, value] : tape_.named()) named_[name] = value;
  }
  const Var& logits() const { return logits_; }
  const std::map<std::string, Tensor>& named() const { return named_; }
  /// Every value whose name is `last` or ends in ".last".
  std::vector<std::pair<std::string, Tensor>> each(const std::string& last) const {
    std::vector<std::pair<std::string, Tensor>> out;
    for (const auto& [name, value] : named_)
      if (name == last || (name.size() > last.size() && name.ends_with("." + last)))
        out.emplace_back(name, value);
    return out;
  }

 private:
  static TapeOptions options(const RunSettings& run) {
    TapeOptions o = tape_options(run, false);
    o.trace = true;
    return o;
  }
  Tape tape_;
  Var logits_;
  std::map<std::string, Tensor> named_;
};

double largest_logit(const Var& logits) {
  double largest = 1;
  for (int64_t i = 0; i < logits.count(); ++i) largest = worse(largest, std::fabs(logits.value().at(i)));
  return largest;
}

// Calls body(b, h, i, j, weight) for every place of weights [B, H, Tq, Tk].
template <class Body>
void each_weight(const Tensor& weights, const Body& body) {
  const Shape& s = weights.shape;
  int64_t at = 0;
  for (int64_t b = 0; b < s[0]; ++b)
    for (int64_t h = 0; h < s[1]; ++h)
      for (int64_t i = 0; i < s[2]; ++i)
        for (int64_t j = 0; j < s[3]; ++j) body(b, h, i, j, weights.at(at++));
}

void future_and_sums(const CheckSubject& subject, const Traced& traced, std::vector<CheckRow>& rows) {
  double future = 0, error = 0;
  for (const auto& [name, weights] : traced.each("weights")) {
    double sum = 0;
    each_weight(weights, [&](int64_t, int64_t, int64_t i, int64_t j, double weight) {
      if (j > i) future = worse(future, std::fabs(weight));
      sum += weight;
      if (j + 1 < weights.shape[3]) return;
      const double off = std::fabs(sum - 1);
      error = worse(error, off);
      sum = 0;
    });
  }
  if (subject.config.model.mask == "causal")
    rows.push_back(at_most("future weight", future, 0, "largest weight above the diagonal; " + subject.of));
  rows.push_back(below("row sums", error, 1e-6, "largest |sum of a row of weights − 1|, summed in double"));
}

// The weights again, from the traced Q and K, by the formula alone and in double.
void weights_by_formula(const CheckSubject& subject, const Traced& traced, const Examples& examples,
                        std::vector<CheckRow>& rows) {
  const ModelConfig& c = subject.config.model;
  const auto q_all = traced.each("Q"), k_all = traced.each("K"), w_all = traced.each("weights");
  double worst = 0;
  for (size_t layer = 0; layer < w_all.size(); ++layer) {
    const Tensor &q = q_all[layer].second, &k = k_all[layer].second, &w = w_all[layer].second;
    const int64_t heads = w.shape[1], length = w.shape[3], width = q.shape.cols() / heads;
    const int64_t group = heads / (k.shape.cols() / width);
    for (int64_t b = 0; b < w.shape[0]; ++b) {
      int64_t pad = 0;
      while (examples.one_target && pad < length &&
             examples.ids[static_cast<size_t>(b * length + pad)] == kPadId)
        ++pad;
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t i = 0; i < length; ++i) {
          const int64_t first = i >= pad ? pad : 0, end = c.mask == "causal" ? i + 1 : length;
          std::vector<double> e(static_cast<size_t>(length));
          double sum = 0, top = -INFINITY;
          for (int64_t j = first; j < end; ++j) {
            double score = 0;
            for (int64_t d = 0; d < width; ++d)
              score += q.at((b * length + i) * heads * width + h * width + d) *
                       k.at((b * length + j) * k.shape.cols() + h / group * width + d);
            e[static_cast<size_t>(j)] = score / std::sqrt(static_cast<double>(width));
            top = std::max(top, e[static_cast<size_t>(j)]);
          }
          for (int64_t j = first; j < end; ++j)
            sum += e[static_cast<size_t>(j)] = std::exp(e[static_cast<size_t>(j)] - top);
          for (int64_t j = 0; j < length; ++j) {
            const double want = j >= first && j < end ? e[static_cast<size_t>(j)] / sum : 0;
            const double off = std::fabs(w.at(((b * heads + h) * length + i) * length + j) - want);
            worst = worse(worst, off);
          }
        }
      }
    }
  }
  rows.push_back(
      at_most("weights by formula", worst, 1e-5,
              "largest difference to softmax(QKᵀ/√d) computed apart, in double, from the traced Q and K"));
}

// Reverses the second half of every example; rows before it must not change.
void causality(const CheckSubject& subject, const Traced& traced, Examples edited,
               std::vector<CheckRow>& rows) {
  const int64_t length = edited.length, half = length / 2;
  if (subject.config.model.mask != "causal" || half == 0) return;
  for (int64_t b = 0; b < edited.count; ++b)
    std::reverse(edited.ids.begin() + b * length + half, edited.ids.begin() + (b + 1) * length);
  const Traced after(*subject.model, subject.config.run, edited.input());
  const int64_t vocabulary = traced.logits().cols();
  double change = 0;
  int64_t compared = 0;
  for (int64_t b = 0; b < edited.count; ++b) {
    // Padding that moves would change what a window is: such windows are left out.
    bool padded = false;
    for (int64_t t = half; t < length; ++t)
      padded = padded || (edited.one_target && edited.ids[static_cast<size_t>(b * length + t)] == kPadId);
    if (padded) continue;
    ++compared;
    for (int64_t i = 0; i < half * vocabulary; ++i) {
      const int64_t at = b * length * vocabulary + i;
      const double off = std::fabs(traced.logits().value().at(at) - after.logits().value().at(at));
      change = worse(change, off);
    }
  }
  if (compared == 0) return;  // every window is padded there: nothing was compared
  rows.push_back(below(
      "causality", change, 1e-6,
      fmt::format("largest change of earlier rows' logits when the second half of {} contexts is reversed",
                  compared)));
}

void last_query(const CheckSubject& subject, const Traced& traced, const Examples& examples,
                std::vector<CheckRow>& rows) {
  Tape tape(tape_options(subject.config.run, false));
  const Var last = subject.model->forward(tape, examples.input(), Rows::last);
  const int64_t vocabulary = last.cols();
  double worst = 0;
  for (int64_t b = 0; b < examples.count; ++b)
    for (int64_t v = 0; v < vocabulary; ++v) {
      const double all = traced.logits().value().at(((b + 1) * examples.length - 1) * vocabulary + v);
      const double off = std::fabs(last.value().at(b * vocabulary + v) - all);
      worst = worse(worst, off);
    }
  const double limit = (subject.config.run.dtype == "f64" ? 1e-12 : 1e-5) * largest_logit(traced.logits());
  rows.push_back(at_most("last query", worst, limit,
                         "largest difference between the last query alone and the last row of all"));
}

// The last logits after the earlier ids of each example are reversed, as the largest change.
double change_by_order(const CheckSubject& subject, const WindowAttention& model, const Examples& examples) {
  const auto last = [&](const Examples& e) {
    Tape tape(tape_options(subject.config.run, false));
    const Var y = model.forward(tape, e.input(), Rows::last);
    std::vector<double> out;
    for (int64_t i = 0; i < y.count(); ++i) out.push_back(y.value().at(i));
    return out;
  };
  Examples moved = examples;
  for (int64_t b = 0; b < moved.count; ++b) {
    auto row = moved.ids.begin() + b * moved.length;
    const auto first = std::find_if(row, row + moved.length, [](int32_t id) { return id != kPadId; });
    if (first < row + moved.length - 1) std::reverse(first, row + moved.length - 1);
  }
  const std::vector<double> before = last(examples), after = last(moved);
  double change = 0;
  for (size_t i = 0; i < before.size(); ++i) change = worse(change, std::fabs(before[i] - after[i]));
  return change;
}

void order_blind(const CheckSubject& subject, const Traced& traced, const Examples& examples,
                 std::vector<CheckRow>& rows) {
  const auto* attention = dynamic_cast<const WindowAttention*>(subject.model);
  if (attention == nullptr || examples.length < 3) return;
  WindowAttention blind(attention->config(), attention->parameters().dtype());
  const Tensor from = attention->parameters().flat_values(), to = blind.parameters().flat_values();
  std::copy_n(static_cast<const char*>(from.data), from.bytes(), static_cast<char*>(to.data));
  const double seeing = change_by_order(subject, blind, examples);
  blind.set_order_blind(true);
  const double limit = 1e-5 * largest_logit(traced.logits());
  CheckRow row = at_most(
      "order-blind", change_by_order(subject, blind, examples), limit,
      fmt::format("change of the last logits when earlier tokens are reversed, without position rows; with "
                  "them it is {:.3g}",
                  seeing));
  row.passed = row.passed && seeing > limit;
  rows.push_back(row);
}

}  // namespace

void check_attention(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  if (subject.config.model.family == "window_mlp") return;
  const Examples examples = spread_examples(*subject.model, *subject.corpus, kExamples, true);
  const Traced traced(*subject.model, subject.config.run, examples.input());
  future_and_sums(subject, traced, rows);
  weights_by_formula(subject, traced, examples, rows);
  causality(subject, traced, examples, rows);
  last_query(subject, traced, examples, rows);
  order_blind(subject, traced, examples, rows);
}

}  // namespace tril
