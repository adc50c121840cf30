// For tests of training: small configurations that train in a moment, and a folder that goes when the test
// does.
#pragma once
#include <string>

#include "tril/base/folder_testing.h"
#include "tril/train/config.h"
#include "tril/train/loop.h"

namespace tril {

/// A window model of a few thousand weights on 40 tales, and any settings over it.
inline Config small_run(const std::vector<std::string>& settings = {}) {
  ConfigBuilder builder;
  builder.add_preset("one-head-smoke");
  for (const char* setting : {"data.stories=40", "data.vocabulary=200", "model.context=6", "model.d_model=8",
                              "model.hidden=12", "train.steps=12", "train.batch=16", "train.eval_every=5",
                              "train.eval_examples=200", "train.log_every=1"})
    builder.set(setting);
  for (const std::string& setting : settings) builder.set(setting);
  return builder.finish();
}

/// metrics.jsonl without the times.
std::string metrics_without_times(const std::string& run);

}  // namespace tril
