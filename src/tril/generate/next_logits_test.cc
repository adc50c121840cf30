#include "tril/generate/next_logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tril/generate/generate.h"
#include "tril/model/registry.h"
#include "tril/train/trainer.h"

namespace tril {
namespace {

// A decoder with drawn weights and no training; its logits are as good a test as any.
LoadedRun drawn_run(const std::string& position, bool fast) {
  LoadedRun run;
  run.config.run.engine = fast ? "fast" : "reference";
  run.config.run.dtype = fast ? "f32" : "f64";
  ModelConfig& c = run.config.model;
  c.family = "decoder";
  c.d_model = 8, c.heads = 2, c.layers = 2, c.hidden = 12, c.context = 6, c.vocab_size = 9;
  c.position = position;
  run.model = make_model(c, dtype_of(run.config.run));
  TorchGenerator random(3);
  run.model->initialize(random);
  return run;
}

// A model that sees the future continues nothing, however it is asked.
TEST(NextLogits, WithoutAMaskNothingIsGeneratedWithACacheOrWithout) {
  LoadedRun run = drawn_run("learned", true);
  run.config.model.mask = "none";
  run.model = make_model(run.config.model, DType::f32);
  EXPECT_THROW(NextLogits(run, true), Refusal);
  EXPECT_THROW(NextLogits(run, false), Refusal);
  run.config.model.mask = "causal";
  testing::internal::CaptureStderr();
  warn_of_seen_targets(run);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// Token by token, past the context where the window slides, and after a text that goes another way.
TEST(NextLogits, CachedEqualsUncached) {
  for (const char* position : {"learned", "sinusoidal", "rotary", "none"})
    for (bool fast : {true, false}) {
      const LoadedRun run = drawn_run(position, fast);
      NextLogits cached(run, true), plain(run, false);
      std::vector<int32_t> ids = {1, 4, 7};
      for (int step = 0; step < 12; ++step) {
        if (step == 2) ids = {1, 4, 2, 2};  // an earlier token has changed
        const std::vector<double> a = cached.after(ids), b = plain.after(ids);
        ASSERT_EQ(a.size(), 9u);
        double largest = 1;
        for (double logit : b) largest = std::max(largest, std::fabs(logit));
        for (size_t v = 0; v < 9; ++v)
          ASSERT_NEAR(a[v], b[v], (fast ? 1e-5 : 1e-12) * largest) << position << " step " << step;
        ids.push_back((5 * step + 3) % 9);
      }
      const std::vector<double> once = cached.after(ids), again = cached.after(ids);  // the same text again
      for (size_t v = 0; v < 9; ++v) ASSERT_NEAR(once[v], again[v], fast ? 1e-5 : 1e-12) << position;
    }
}

// Three texts side by side, the last of which leaves; past the context too.
TEST(NextLogits, SideBySideIsEachAlone) {
  for (bool cache : {true, false}) {
    const LoadedRun run = drawn_run("rotary", false);
    NextLogits together(run, cache, 3, 20);
    std::vector<std::vector<int32_t>> texts(3, {1, 4, 7});
    for (int step = 0; step < 10; ++step) {
      if (step == 4) texts.pop_back();
      if (step == 7) texts.assign(3, {1, 4, 7});  // a new beginning, read once
      const auto logits = together.after_each(texts);
      ASSERT_EQ(logits.size(), texts.size());
      for (size_t b = 0; b < texts.size(); ++b) {
        const std::vector<double> alone = NextLogits(run, false).after(texts[b]);
        for (size_t v = 0; v < 9; ++v) ASSERT_NEAR(logits[b][v], alone[v], 1e-12) << step << " " << b;
        texts[b].push_back(static_cast<int32_t>((5 * step + 3 * static_cast<int>(b) + 2) % 9));
      }
    }
  }
}

// A narrow model's token in one call (model/narrow_step.h) is the whole window again, past the context too.
TEST(NextLogits, ANarrowModelGivesWhatItGivesUncached) {
  LoadedRun run = drawn_run("learned", true);
  ModelConfig& c = run.config.model;
  c.d_model = 16, c.heads = 4, c.hidden = 64, c.vocab_size = 27;
  run.model = make_model(c, DType::f32);
  TorchGenerator random(3);
  run.model->initialize(random);
  NextLogits cached(run, true), plain(run, false);
  std::vector<int32_t> ids = {1};
  for (int step = 0; step < 12; ++step) {
    const std::vector<double> a = cached.after(ids), b = plain.after(ids);
    double largest = 1;
    for (double logit : b) largest = std::max(largest, std::fabs(logit));
    for (size_t v = 0; v < 27; ++v) ASSERT_NEAR(a[v], b[v], 1e-5 * largest) << "step " << step;
    ids.push_back((5 * step + 3) % 27);
  }
}

TEST(NextLogits, AWindowModelHasNoCache) {
  LoadedRun run;
  ModelConfig& c = run.config.model;
  c.d_model = 8, c.hidden = 12, c.context = 4, c.vocab_size = 9;
  run.model = make_model(c, DType::f32);
  TorchGenerator random(3);
  run.model->initialize(random);
  EXPECT_EQ(run.model->make_cache(1, 4), nullptr);
  const std::vector<int32_t> ids = {1, 4, 7, 2, 8};
  Tape tape(tape_options(run.config.run, false));
  std::vector<int32_t> last = {4, 7, 2, 8};
  const Var y = run.model->forward(tape, {{1, 4}, DType::i32, last.data()}, Rows::last);
  const std::vector<double> cached = NextLogits(run, true).after(ids);
  EXPECT_EQ(NextLogits(run, false).after(ids), cached);
  for (size_t v = 0; v < 9; ++v) EXPECT_EQ(cached[v], y.value().at(static_cast<int64_t>(v)));
}

}  // namespace
}  // namespace tril
