#include "tril/check/hand_worked.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tril/ops/add.h"
#include "tril/ops/attention.h"
#include "tril/ops/linear.h"

namespace tril {
namespace {

struct Known {
  const char* name;
  std::vector<double> numbers;
};

// Worked out with nothing but multiplications, exp and division, to nine places.
const std::vector<Known>& known() {
  constexpr double hidden = -std::numeric_limits<double>::infinity();
  static const std::vector<Known> all = {
      {"X", {1, 0, .2, 0, 1, .1, 1, 1, 0, .5, 1, .4}},
      {"Q", {1.1, .1, .05, 1.05, 1, 1, .7, 1.2}},
      {"K", {1, 0, 0, 1, 1, 1, .5, 1}},
      {"V", {1.2, -.2, .1, .9, 1, 1, .9, .6}},
      {"scores",
       {0.777817459, 0.070710678, 0.848528137, 0.459619408, 0.035355339, 0.742462120, 0.777817459,
        0.760139790, 0.707106781, 0.707106781, 1.414213562, 1.060660172, 0.494974747, 0.848528137,
        1.343502884, 1.096015511}},
      {"masked_scores",
       {0.777817459, hidden, hidden, hidden, 0.035355339, 0.742462120, hidden, hidden, 0.707106781,
        0.707106781, 1.414213562, hidden, 0.494974747, 0.848528137, 1.343502884, 1.096015511}},
      {"weights",
       {1, 0, 0, 0, 0.330238451, 0.669761549, 0, 0, 0.248255078, 0.248255078, 0.503489843, 0, 0.151875489,
        0.216288772, 0.354812390, 0.277023349}},
      {"messages", {1.2, -.2, 0.463262296, 0.536737704, 0.826221445, 0.677268398, 0.808012868, 0.685311196}},
      {"updates",
       {1.2, -.2, .7, 0.463262296, 0.536737704, -0.036737704, 0.826221445, 0.677268398, 0.074476523,
        0.808012868, 0.685311196, 0.061350836}},
      {"contextual",
       {2.2, -.2, .9, 0.463262296, 1.536737704, 0.063262296, 1.826221445, 1.677268398, 0.074476523,
        1.308012868, 1.685311196, 0.461350836}},
  };
  return all;
}

// W is written as in X W; parameters are stored [out, in], so it is turned round.
Var matrix(Tape& tape, int64_t in, int64_t out, const std::vector<double>& w) {
  const Tensor t = tape.arena().tensor({out, in}, DType::f64);
  for (int64_t i = 0; i < in; ++i)
    for (int64_t o = 0; o < out; ++o) t.as<double>()[o * in + i] = w[static_cast<size_t>(i * out + o)];
  return tape.constant(t);
}

double difference(const Tensor& got, const std::vector<double>& want) {
  double worst = 0;
  for (int64_t i = 0; i < got.count(); ++i) {
    const double known_number = want[static_cast<size_t>(i)], number = got.at(i);
    const double off =
        std::isinf(known_number) ? (number == known_number ? 0 : INFINITY) : std::fabs(number - known_number);
    worst = worse(worst, off);
  }
  return worst;
}

void judge(const Tape& tape, HandWorked& out) {
  for (const Known& value : known()) {
    for (const auto& [name, tensor] : tape.named()) {
      if (name != value.name) continue;
      const double worst = difference(tensor, value.numbers);
      HandWorkedValue shown{name, tensor.shape, {}, worst};
      for (int64_t i = 0; i < tensor.count(); ++i) shown.data.push_back(tensor.at(i));
      out.values.push_back(std::move(shown));
      out.checks.push_back(below(name, worst, 1e-8,
                                 "largest difference to the numbers worked by hand, " + tensor.shape.text()));
    }
  }
  const std::vector<double>& weights = out.values[6].data;
  double future = 0, sums = 0;
  for (size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 4; ++j) {
      if (j > i) future = worse(future, std::fabs(weights[4 * i + j]));
      sum += weights[4 * i + j];
    }
    sums = worse(sums, std::fabs(sum - 1));
  }
  out.checks.push_back(at_most("future weight", future, 0, "largest weight above the diagonal"));
  out.checks.push_back(below("row sums", sums, 1e-12, "largest |sum of a row of weights - 1|"));
}

}  // namespace

HandWorked check_hand_worked() {
  Tape tape({Engine::reference, DType::f64, false, true});
  const std::vector<double> w_q = {1, 0, 0, 1, .5, .5}, w_k = {1, 0, 0, 1, 0, 0}, w_v = {1, 0, 0, 1, 1, -1},
                            w_o = {1, 0, .5, 0, 1, -.5};
  const Tensor x_values = tape.arena().tensor({1, 4, 3}, DType::f64);
  std::copy(known()[0].numbers.begin(), known()[0].numbers.end(), x_values.as<double>());
  const Var x = tape.name("X", tape.constant(x_values));
  const Var q = tape.name("Q", linear(tape, x, matrix(tape, 3, 2, w_q)));
  const Var k = tape.name("K", linear(tape, x, matrix(tape, 3, 2, w_k)));
  const Var v = tape.name("V", linear(tape, x, matrix(tape, 3, 2, w_v)));
  const Var messages = tape.name("messages", attention(tape, q, k, v, {}));
  const Var updates = tape.name("updates", linear(tape, messages, matrix(tape, 2, 3, w_o)));
  tape.name("contextual", add(tape, x, updates));
  HandWorked out;
  judge(tape, out);
  // What is given stands first: X, then the matrices as they are written in X W.
  out.values.insert(
      out.values.begin() + 1,
      {{"W_Q", {3, 2}, w_q, 0}, {"W_K", {3, 2}, w_k, 0}, {"W_V", {3, 2}, w_v, 0}, {"W_O", {2, 3}, w_o, 0}});
  for (CheckRow& row : out.checks) row.subject = "the four-token example";
  return out;
}

}  // namespace tril
