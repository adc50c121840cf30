// Runs the checks on a fresh small model and prints the names of those that fail, a line each. It is linked
// with ops that have one line broken by a compile definition (CMakeLists.txt), to show that each check can
// fail.
#include <cstdio>

#include "tril/base/log.h"
#include "tril/check/check.h"
#include "tril/check/hand_worked.h"
#include "tril/model/registry.h"
#include "tril/train/train_testing.h"

int main() {
  using namespace tril;
  log::set_quiet(true);
  Config config = small_run();
  const Corpus corpus = build_corpus(config.data);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const std::unique_ptr<Model> model = make_model(config.model, DType::f32);
  TorchGenerator random(11);
  model->initialize(random);
  for (const CheckRow& row : check_hand_worked().checks)
    if (!row.passed) std::printf("hand-worked %s\n", row.name.c_str());
  for (const CheckRow& row : check_model({config, &corpus, model.get(), "fresh weights"}))
    if (!row.passed) std::printf("%s\n", row.name.c_str());
  return 0;
}
