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

void future_and_sums(const CheckSubject& subject, const Traced& traced, const Examples& examples,
                     std::vector<CheckRow>& rows) {
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
    rows.push_back(
        at_most("future weight", future, 0, "largest weight above the diagonal, on " + examples.text()));
  rows.push_back(below("row sums", error, 1e-6,
                       "largest |sum of a row of weights - 1|, summed in double, on " + examples.text()));
}

// One head's tensors as the trace kept them, and where a query's key, value and message lie in them.
struct TracedHead {
  const Tensor &q, &k, &v, &w, &m;
  int64_t heads, length, width, value_width, group;
  double score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d)
      sum += q.at(((b * length + i) * heads + h) * width + d) *
             k.at((b * length + j) * k.shape.cols() + h / group * width + d);
    return sum / std::sqrt(static_cast<double>(width));
  }
  double weight(int64_t b, int64_t h, int64_t i, int64_t j) const {
    return w.at(((b * heads + h) * length + i) * length + j);
  }
  double value(int64_t b, int64_t h, int64_t j, int64_t d) const {
    return v.at((b * length + j) * v.shape.cols() + h / group * value_width + d);
  }
  double message(int64_t b, int64_t h, int64_t i, int64_t d) const {
    return m.at(((b * length + i) * heads + h) * value_width + d);
  }
};

// What softmax(Q K^T / sqrt d) and its mixture of V differ by from one query's weights and message: keys
// [first, end) are the visible ones.
void compare_query(const TracedHead& head, int64_t b, int64_t h, int64_t i, int64_t first, int64_t end,
                   double& weights_off, double& messages_off) {
  std::vector<double> e(static_cast<size_t>(head.length), 0.0);
  double sum = 0, top = -INFINITY;
  for (int64_t j = first; j < end; ++j)
    top = std::max(top, e[static_cast<size_t>(j)] = head.score(b, h, i, j));
  for (int64_t j = first; j < end; ++j)
    sum += e[static_cast<size_t>(j)] = std::exp(e[static_cast<size_t>(j)] - top);
  for (int64_t j = 0; j < head.length; ++j) {
    e[static_cast<size_t>(j)] /= sum;
    weights_off = worse(weights_off, std::fabs(head.weight(b, h, i, j) - e[static_cast<size_t>(j)]));
  }
  for (int64_t d = 0; d < head.value_width; ++d) {
    double message = 0, size = 1;
    for (int64_t j = first; j < end; ++j) {
      message += e[static_cast<size_t>(j)] * head.value(b, h, j, d);
      size = std::max(size, std::fabs(head.value(b, h, j, d)));
    }
    messages_off = worse(messages_off, std::fabs(head.message(b, h, i, d) - message) / size);
  }
}

// Attention again, from the traced Q, K and V, by the formula alone and in double.
void attention_by_formula(const CheckSubject& subject, const Traced& traced, const Examples& examples,
                          std::vector<CheckRow>& rows) {
  const bool causal = subject.config.model.mask == "causal";
  const auto q = traced.each("Q"), k = traced.each("K"), v = traced.each("V"), w = traced.each("weights"),
             m = traced.each("messages");
  double weights_off = 0, messages_off = 0;
  for (size_t layer = 0; layer < w.size(); ++layer) {
    TracedHead head{
        q[layer].second, k[layer].second, v[layer].second, w[layer].second, m[layer].second, 0, 0, 0, 0, 0};
    head.heads = head.w.shape[1], head.length = head.w.shape[3];
    head.width = head.q.shape.cols() / head.heads, head.value_width = head.m.shape.cols() / head.heads;
    head.group = head.heads / (head.k.shape.cols() / head.width);
    for (int64_t b = 0; b < head.w.shape[0]; ++b) {
      const int64_t pad = examples.one_target ? examples.padding(b) : 0;
      for (int64_t h = 0; h < head.heads; ++h)
        for (int64_t i = 0; i < head.length; ++i)
          compare_query(head, b, h, i, i >= pad ? pad : 0, causal ? i + 1 : head.length, weights_off,
                        messages_off);
    }
  }
  rows.push_back(at_most(
      "weights by formula", weights_off, 1e-5,
      "largest difference to softmax(Q K^T / sqrt d) computed apart, in double, from the traced Q and K of " +
          examples.text()));
  rows.push_back(at_most("messages by formula", messages_off, 1e-5,
                         "largest difference to those weights' mixture of the traced V, over the largest |V| "
                         "in it (at least 1), on " +
                             examples.text()));
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
  rows.push_back(below("causality", change, 1e-6,
                       fmt::format("largest change of earlier rows' logits when the second half of each is "
                                   "reversed, on {} of {}",
                                   compared, edited.text())));
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
  rows.push_back(
      at_most("last query", worst, limit,
              "largest difference between the last query's logits alone and the last row of all, on " +
                  examples.text()));
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
                  "them it is {:.3g}; on {}",
                  seeing, examples.text()));
  row.passed = row.passed && seeing > limit;
  rows.push_back(row);
}

}  // namespace

void check_attention(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  if (subject.config.model.family == "window_mlp") return;
  const Examples examples = spread_examples(*subject.model, *subject.corpus, kExamples, true);
  const Traced traced(*subject.model, subject.config.run, examples.input());
  future_and_sums(subject, traced, examples, rows);
  attention_by_formula(subject, traced, examples, rows);
  causality(subject, traced, examples, rows);
  last_query(subject, traced, examples, rows);
  order_blind(subject, traced, examples, rows);
}

}  // namespace tril
