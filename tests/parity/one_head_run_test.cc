// The windows of the smoke preset's tales, and PyTorch's 300 training steps on them (one_head_run.json).
// TRIL_WINDOWS=FILE writes the windows for one_head_run.py and the PyTorch peers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "numbers.h"
#include "tril/data/corpus.h"
#include "tril/data/windows.h"
#include "tril/train/config.h"

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

TEST(ParityOneHeadRun, WindowsOfTheSmokePresetsTales) {
  const Config config = resolve(preset_config("one-head-smoke"));
  CorpusOptions quietly;
  quietly.announce = false;
  const Corpus corpus = build_corpus(config.data, quietly);
  const auto rows = window_rows(corpus, config.model.context);
  if (const char* path = std::getenv("TRIL_WINDOWS")) {
    write_file_atomically(path, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(int32_t)});
    return;
  }
  const auto stored = load("one_head_run");
  EXPECT_EQ(rows[0], stored["vocabulary"].get<int32_t>());
  EXPECT_EQ(digest(rows), text(stored["windows_sha256"]))
      << "the tales changed: run tests/parity/regenerate.sh --write one_head_run";
}

}  // namespace
}  // namespace tril::parity
