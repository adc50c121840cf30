// Numbers that must stay numbers, and a first loss that must be that of an even guess.
#include <fmt/core.h>

#include <cmath>

#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/model/registry.h"
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
  rows.push_back(
      at_most("finite", bad, 0,
              fmt::format("numbers that are not finite, of {} named values' {}", tape.named().size(), seen)));
}

void first_loss(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  const std::unique_ptr<Model> fresh = make_model(subject.config.model, dtype_of(subject.config.run));
  if (subject.config.train.random == "python") {
    PythonRandom random(subject.config.train.seed);
    fresh->initialize(random);
  } else {
    TorchGenerator random(static_cast<uint64_t>(subject.config.train.seed));
    fresh->initialize(random);
  }
  const Examples examples = spread_examples(*fresh, *subject.corpus, 256);
  Tape tape(tape_options(subject.config.run, false));
  const double loss = fresh->loss(tape, examples.batch(), Reduce::mean).loss.value().at(0);
  const double even = std::log(static_cast<double>(subject.config.model.vocab_size));
  rows.push_back(at_most(
      "first loss", std::fabs(loss - even), 0.5,
      fmt::format(
          "|loss − ln V| of fresh weights of this configuration, seed {}: {:.4f} against ln {} = {:.4f}",
          subject.config.train.seed, loss, subject.config.model.vocab_size, even)));
}

void stable_softmax(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  Tape tape(tape_options(subject.config.run, false));
  const Tensor logits = tape.arena().tensor({2, 33}, tape.dtype());
  with_real(tape.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < logits.count(); ++i)
      logits.as<T>()[i] = static_cast<T>(i % 3 == 0 ? 1e4 : i % 3 == 1 ? -1e4 : 0);
  });
  const Var y = softmax(tape, tape.constant(logits));
  double worst = 0;
  for (int64_t r = 0; r < 2; ++r) {
    double sum = 0;
    for (int64_t c = 0; c < 33; ++c) sum += y.value().at(r * 33 + c);
    worst = worse(worst, std::fabs(sum - 1));
  }
  rows.push_back(below("stable softmax", worst, 1e-6, "|sum of a row − 1| with logits of ±10,000"));
}

}  // namespace

void check_numbers(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  all_finite(subject, rows);
  first_loss(subject, rows);
  stable_softmax(subject, rows);
}

}  // namespace tril
