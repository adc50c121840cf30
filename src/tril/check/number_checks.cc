// Numbers that must stay numbers, and a first loss that must be that of an even guess.
#include <fmt/core.h>

#include <cmath>
#include <functional>

#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/first_loss.h"
#include "tril/ops/attention.h"
#include "tril/ops/cross_entropy.h"
#include "tril/ops/linear_cross_entropy.h"
#include "tril/ops/softmax.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

void all_finite(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  const Examples examples = spread_examples(*subject.model, *subject.corpus, 32);
  TapeOptions options = tape_options(subject.config.run, false);
  options.trace = true;
  Tape tape(options);
  subject.model->forward(tape, examples.input(), Rows::all);
  double bad = 0;
  int64_t seen = 0;
  for (const auto& [name, value] : tape.named()) {
    const bool hidden_places = name.ends_with("masked_scores");  // −∞ is what a mask is made of; a NaN is not
    for (int64_t i = 0; i < value.count(); ++i) {
      const double number = value.at(i);
      const bool masked = hidden_places && std::isinf(number) && number < 0;
      if (!std::isfinite(number) && !masked) ++bad;
      ++seen;
    }
  }
  rows.push_back(at_most("finite", bad, 0,
                         fmt::format("numbers that are not finite, of {} named values' {}, on {}",
                                     tape.named().size(), seen, examples.text())));
}

// Why a loss other than ln V is right for this configuration; "" where ln V is.
std::string spread_of_logits(const ModelConfig& config) {
  const double variance = fresh_logit_variance(config);
  if (variance == 0) return "";
  return fmt::format(
      ", to which fresh logits of variance {:.3g} add {:.4f} by design: the head reads normed rows", variance,
      expected_first_loss(config) - std::log(static_cast<double>(config.vocab_size)));
}

void first_loss(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  const ModelConfig& config = subject.config.model;
  const std::unique_ptr<Model> fresh = fresh_model(subject.config);
  const Examples examples = spread_examples(*fresh, *subject.corpus, 256);
  Tape tape(tape_options(subject.config.run, false));
  const double loss = fresh->loss(tape, examples.batch(), Reduce::mean).loss.value().at(0);
  rows.push_back(at_most(
      "first loss", std::fabs(loss - std::log(static_cast<double>(config.vocab_size))), 0.5,
      fmt::format(
          "how far the loss of fresh weights of this configuration, seed {}, is from an even guess: {:.4f} "
          "against ln {} = {:.4f}{}; on {}",
          subject.config.train.seed, loss, config.vocab_size,
          std::log(static_cast<double>(config.vocab_size)), spread_of_logits(config), examples.text())));
}

// ---- logits of +-10,000, whose exponentials are beyond any number: what is expected is worked out by hand

constexpr double kHuge = 1e4;

Var numbers(Tape& tape, const Shape& shape, const std::function<double(int64_t)>& at) {
  const Tensor t = tape.arena().tensor(shape, tape.dtype());
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < t.count(); ++i) t.as<T>()[i] = static_cast<T>(at(i));
  });
  return tape.constant(t);
}

// Of 33 logits 11 are the largest, 11 far below, 11 of 100: e^100 is infinite in float, where a vector
// exponential of 10,000 itself may be any number.
double huge(int64_t i) {
  return i % 3 == 0 ? kHuge : i % 3 == 1 ? -kHuge : 100;
}

double softmax_error(Tape& tape) {
  const Var y = softmax(tape, numbers(tape, {2, 33}, huge));
  double error = 0;
  for (int64_t i = 0; i < 66; ++i)
    error = worse(error, std::fabs(y.value().at(i) - (i % 3 == 0 ? 1.0 / 11 : 0)));
  return error;
}

// One head of width 1: the scores of every query are 10,000, −10,000 and 100, as far as it sees them.
double attention_error(const TapeOptions& options) {
  TapeOptions traced = options;
  traced.trace = true;
  Tape tape(traced);
  const Var one = numbers(tape, {1, 3, 1}, [](int64_t) { return 1; });
  attention(tape, one, numbers(tape, {1, 3, 1}, huge), one, {});
  double error = INFINITY;
  for (const auto& [name, weights] : tape.named()) {
    if (name != "weights") continue;
    error = 0;
    for (int64_t i = 0; i < 9; ++i) error = worse(error, std::fabs(weights.at(i) - (i % 3 == 0 ? 1 : 0)));
  }
  return error;
}

// The target is one of 11 equal logits: ln 11. The loss is the difference of numbers of that size.
double loss_error(Tape& tape, bool with_head) {
  int32_t targets[] = {0, 3};
  const Var wanted = tape.constant({{2}, DType::i32, targets});
  const auto one = [](int64_t) { return 1; };
  const Var loss = with_head ? linear_cross_entropy(tape, numbers(tape, {2, 1}, one),
                                                    numbers(tape, {33, 1}, huge), {}, wanted)
                                   .loss
                             : cross_entropy(tape, numbers(tape, {2, 33}, huge), wanted, Reduce::mean).loss;
  return std::fabs(loss.value().at(0) - std::log(11.0)) / kHuge;
}

void stable_softmax(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  const TapeOptions options = tape_options(subject.config.run, false);
  Tape tape(options);
  double error = worse(worse(softmax_error(tape), loss_error(tape, false)), loss_error(tape, true));
  if (subject.config.model.family != "window_mlp") error = worse(error, attention_error(options));
  rows.push_back(
      below("stable softmax", error, 1e-6,
            "largest error of softmax, attention's weights and the loss with logits of +-10,000, the "
            "loss's over 10,000; the operations alone, on numbers made for it"));
}

}  // namespace

void check_numbers(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  all_finite(subject, rows);
  if (subject.drawn) first_loss(subject, rows);
  stable_softmax(subject, rows);
}

}  // namespace tril
