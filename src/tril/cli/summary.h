// What train and resume show when they end: the figures, the loss curve on a terminal, the samples, what to
// do next. What it leaves out: computing any of it (train/loop.h).
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tril/data/baselines.h"
#include "tril/train/loop.h"

namespace tril::cli {

/// result.json in lines for a reader.
std::string summary_text(const nlohmann::ordered_json& result);

/// The losses of uniform, unigram and bigram on the validation part, or on the training part where there is
/// none. Nothing for a text of over twenty million tokens, whose pairs would take too much memory.
std::optional<BaselineLosses> baselines_of(const Config& config, const Corpus& corpus);

/// Training and validation loss against targets seen, with the baselines as levels, or that of an even guess
/// alone; "" where there are fewer than two points.
std::string loss_chart(const nlohmann::ordered_json& result, const std::optional<BaselineLosses>& baselines,
                       bool unicode);

/// The end of train and resume: the result as JSON, or as lines, with a chart where standard output is a
/// terminal.
class Ending {
 public:
  explicit Ending(bool json);
  /// What training calls back. Valid while this is.
  LoopOptions options(const RunFolder& folder);
  void print(const nlohmann::ordered_json& result) const;

 private:
  bool json_, chart_;
  std::optional<BaselineLosses> baselines_;
};

}  // namespace tril::cli
