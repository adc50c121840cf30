// Runs the checks on fresh small models of two families and prints the names of those that fail, a line each.
// It is linked with a source that has one line broken by a compile definition (CMakeLists.txt), to show that
// each check can fail.
#include <cstdio>

#include "tril/base/log.h"
#include "tril/base/threads.h"
#include "tril/check/check.h"
#include "tril/check/hand_worked.h"
#include "tril/train/train_testing.h"

namespace {

using namespace tril;

void print_failures(const char* of, const std::vector<CheckRow>& rows) {
  for (const CheckRow& row : rows)
    if (!row.passed) std::printf("%s: %s\n", of, row.name.c_str());
}

void check_fresh(const char* of, const std::vector<std::string>& settings) {
  Config config = small_run(settings);
  const Corpus corpus = build_corpus(config.data);
  config.model.vocab_size = corpus.tokenizer->vocab_size();
  const std::unique_ptr<Model> model = fresh_model(config);
  print_failures(of, check_model({config, &corpus, model.get(), of}));
}

}  // namespace

int main() {
  log::set_quiet(true);
  set_threads(1);  // so small a model only waits for more
  print_failures("hand-worked", check_hand_worked().checks);
  check_fresh("window", {"model.heads=2"});
  check_fresh("decoder",
              {"model.family=decoder", "model.heads=2", "model.position=rotary", "model.head_bias=true"});
  return 0;
}
