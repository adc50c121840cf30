#include "tril/train/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/model/registry.h"

namespace tril {
namespace {

ModelConfig config() {
  ModelConfig c;
  c.d_model = 6, c.hidden = 7, c.context = 5, c.vocab_size = 9;
  return c;
}

Tokens tokens(std::vector<std::vector<int32_t>> documents) {
  Tokens out;
  for (const auto& document : documents) {
    out.ids.insert(out.ids.end(), document.begin(), document.end());
    out.end_document();
  }
  return out;
}

TapeOptions no_record() {
  return {Engine::reference, DType::f64, false};
}

// Zero weights give every id the same chance: each of the 3 + 2 targets costs ln 9.
// Cases 15 and 16: every target once, the tail too.
TEST(Evaluation, EveryTargetCountsOnce) {
  const auto model = make_model(config(), DType::f64);
  Tape tape(no_record());
  const Tokens part = tokens({{1, 4, 5, 2}, {1, 6, 2}});
  const std::optional<Evaluation> all = evaluate(*model, tape, part), some = evaluate(*model, tape, part, 4);
  ASSERT_TRUE(all && some);
  EXPECT_EQ(all->targets, 5);
  EXPECT_NEAR(all->loss(), std::log(9.0), 1e-12);
  EXPECT_NEAR(all->perplexity(), 9, 1e-10);
  EXPECT_NEAR(all->bits_per_byte(10), 5 * std::log2(9.0) / 10, 1e-12);
  EXPECT_EQ(some->targets, 4);
  EXPECT_EQ(evaluate(*model, tape, part, 99)->targets, 5);
}

TEST(Evaluation, AnEmptyPartHasNoLoss) {
  const auto model = make_model(config(), DType::f64);
  Tape tape(no_record());
  EXPECT_FALSE(evaluate(*model, tape, tokens({})));
  EXPECT_FALSE(evaluate(*model, tape, tokens({{1}})));
}

}  // namespace
}  // namespace tril
