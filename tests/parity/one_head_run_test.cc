// The windows of the smoke preset's tales, and PyTorch's 300 training steps on them (one_head_run.json).
// TRIL_WINDOWS=FILE writes the windows for one_head_run.py and the PyTorch peers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "numbers.h"
#include "tril/base/threads.h"
#include "tril/data/corpus.h"
#include "tril/data/windows.h"
#include "tril/train/config.h"
#include "tril/train/trainer.h"

namespace tril::parity {
namespace {

/// int32: vocabulary, ids a row, then the rows: the context, left-padded, and the target.
std::vector<int32_t> window_rows(const Corpus& corpus, int64_t context) {
  const Windows windows(corpus.train(), context, 0);
  std::vector<int32_t> out{static_cast<int32_t>(corpus.tokenizer->vocab_size()),
                           static_cast<int32_t>(context + 1)};
  out.resize(2 + static_cast<size_t>(windows.targets() * (context + 1)));
  for (int64_t t = 0; t < windows.targets(); ++t) {
    int32_t* row = out.data() + 2 + t * (context + 1);
    row[context] = windows.fetch(t, row);
  }
  return out;
}

struct Smoke {
  Config config = resolve(preset_config("one-head-smoke"));
  Corpus corpus;

  Smoke() {
    CorpusOptions quietly;
    quietly.announce = false;
    corpus = build_corpus(config.data, quietly);
    config.model.vocab_size = corpus.tokenizer->vocab_size();
  }
};

TEST(ParityOneHeadRun, WindowsOfTheSmokePresetsTales) {
  const Smoke smoke;
  const auto rows = window_rows(smoke.corpus, smoke.config.model.context);
  if (const char* path = std::getenv("TRIL_WINDOWS")) {
    write_file_atomically(path, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(int32_t)});
    return;
  }
  const auto stored = load("one_head_run");
  EXPECT_EQ(rows[0], stored["vocabulary"].get<int32_t>());
  EXPECT_EQ(digest(rows), text(stored["windows_sha256"]))
      << "the tales changed: run tests/parity/regenerate.sh --write one_head_run";
}

// Two calculations that round differently part slowly: Adam divides small gradients by their own size, so
// that PyTorch in float32 and PyTorch in float64 are up to 1.7e-2 apart on these steps, and 1.8e-3 at the
// last.
TEST(ParityOneHeadRun, LossesOf300StepsFollowPyTorchs) {
  const Smoke smoke;
  const auto stored = load("one_head_run");
  const auto losses = stored["losses"].get<std::vector<double>>();
  ASSERT_EQ(losses.size(), 300u);
  const int before = threads();
  set_threads(1);  // the same bits as with more, and no waiting where the machine is busy
  Trainer trainer(smoke.config, smoke.corpus);
  double largest = 0, signed_sum = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    const StepResult result = trainer.step();
    const double difference = result.loss - losses[i];
    largest = std::max(largest, std::abs(difference));
    if (i == 0) {
      EXPECT_NEAR(result.loss, losses[i], 1e-5);
      EXPECT_NEAR(result.gradient_norm, stored["gradient_norms"][0].get<double>(), 1e-5);
    }
    if (i < 25) {
      ASSERT_LE(std::abs(difference), 1e-4) << "step " << i + 1;
    }
    if (i >= 250) signed_sum += difference;
    if (i == 299) {
      EXPECT_LE(std::abs(difference), 1e-2);
    }
  }
  set_threads(before);
  EXPECT_LE(largest, 5e-2);
  EXPECT_LE(std::abs(signed_sum / 50), 5e-3) << "mean over the last 50 steps";
  RecordProperty("largest_difference", scientific(largest));
}

}  // namespace
}  // namespace tril::parity
