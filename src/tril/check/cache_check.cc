// The key/value cache against no cache: a few texts of the subject's corpus read token by token give the
// logits that they give when read whole.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tril/base/table.h"
#include "tril/check/check.h"
#include "tril/check/examples.h"
#include "tril/train/trainer.h"

namespace tril {

void check_cache(const CheckSubject& subject, std::vector<CheckRow>& rows) {
  constexpr int64_t kTexts = 4, kPositions = 64;
  if (subject.config.model.family != "decoder" || subject.config.model.mask != "causal") return;
  const Examples examples = spread_examples(*subject.model, *subject.corpus, kTexts);
  const int64_t texts = examples.count, length = std::min(examples.length, kPositions);
  std::vector<int32_t> ids, column(static_cast<size_t>(texts));
  for (int64_t b = 0; b < texts; ++b) {
    const auto row = examples.ids.begin() + b * examples.length;
    ids.insert(ids.end(), row, row + length);
  }
  Tape whole(tape_options(subject.config.run, false)), part(tape_options(subject.config.run, false));
  const Tensor all_ids{{texts, length}, DType::i32, ids.data()}, next{{texts, 1}, DType::i32, column.data()};
  const Var all = subject.model->forward(whole, all_ids, Rows::all);
  const std::unique_ptr<Cache> cache = subject.model->make_cache(texts, length);
  const int64_t vocabulary = all.cols();
  double worst = 0, largest = 1;
  for (int64_t t = 0; t < length; ++t) {
    for (int64_t b = 0; b < texts; ++b)
      column[static_cast<size_t>(b)] = ids[static_cast<size_t>(b * length + t)];
    part.reset();
    const Var y = subject.model->step(part, next, *cache, Rows::last);
    for (int64_t b = 0; b < texts; ++b)
      for (int64_t v = 0; v < vocabulary; ++v) {
        const double uncached = all.value().at((b * length + t) * vocabulary + v);
        const double off = std::fabs(y.value().at(b * vocabulary + v) - uncached);
        worst = worse(worst, off);
        largest = std::max(largest, std::fabs(uncached));
      }
  }
  const double limit = (subject.config.run.dtype == "f64" ? 1e-12 : 1e-5) * largest;
  rows.push_back(
      at_most("cached = uncached", worst, limit,
              fmt::format("largest difference of logits between the first {} of each read token by "
                          "token through the cache, and read whole, on {}",
                          counted(length, "token"), examples.text())));
}

}  // namespace tril
