// check: nothing taken on faith. A check computes a number and holds it against a limit; a report is a list
// of them. What it leaves out: how a report is shown (cli/check.cc).
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tril/data/corpus.h"
#include "tril/model/model.h"
#include "tril/train/settings.h"

namespace tril {

struct CheckRow {
  std::string name;  // "causality"
  bool passed = false;
  double value = 0;     // what was measured
  double limit = 0;     // what it must not pass
  std::string what;     // what was measured, and on which examples
  std::string subject;  // whose weights and text: "one-head-smoke on tales, fresh weights of seed 11"
};

/// The worse of two measurements: the larger one, and a NaN, once met, stays.
inline double worse(double worst, double value) {
  return std::isnan(worst) || value <= worst ? worst : value;
}

/// A row that passes where value ≤ limit (a NaN never does).
CheckRow at_most(std::string name, double value, double limit, std::string what);
/// A row that passes where value < limit.
CheckRow below(std::string name, double value, double limit, std::string what);

/// What is checked: a configuration, a corpus to take examples from, and the weights.
struct CheckSubject {
  Config config;  // model.vocab_size is set
  const Corpus* corpus;
  const Model* model;  // of the fast engine's type, f32, or of the configuration's
  std::string
      of;  // "one-head-smoke on tales, fresh weights of seed 11", "the weights of runs/smoke, step 300"
  bool drawn = true;  // false: training began from another model's weights, and none were ever drawn
};

/// The model of a configuration with the weights that training begins from: model.vocab_size is set.
std::unique_ptr<Model> fresh_model(const Config& config);

/// All checks that apply to the subject's family, in the order of the table; each row names the subject.
/// `started` is told each group's name.
std::vector<CheckRow> check_model(const CheckSubject& subject,
                                  const std::function<void(const std::string&)>& started = nullptr);

// The groups of it, one file each.
void check_attention(const CheckSubject& subject, std::vector<CheckRow>& rows);  // attention_checks.cc
void check_cache(const CheckSubject& subject, std::vector<CheckRow>& rows);      // cache_check.cc
void check_numbers(const CheckSubject& subject, std::vector<CheckRow>& rows);    // number_checks.cc
void check_gradients(const CheckSubject& subject, std::vector<CheckRow>& rows, double seconds = 60);
void check_overfit(const CheckSubject& subject, std::vector<CheckRow>& rows);  // overfit_check.cc

}  // namespace tril
