#include "tril/train/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// Cases 15 and 16, of blocks: 20 tokens and a context of 8 are 19 targets, whatever the limit cuts, and the
// loss is that of the blocks one by one.
TEST(Evaluation, BlocksHoldEveryTargetOnce) {
  ModelConfig c = config();
  c.family = "decoder";
  c.context = 8, c.layers = 1, c.heads = c.kv_heads = 2, c.d_model = c.d_k = c.d_v = 8;
  const auto model = make_model(c, DType::f64);
  TorchGenerator random(3);
  model->initialize(random);
  std::vector<int32_t> stream(20);
  for (size_t i = 0; i < stream.size(); ++i) stream[i] = static_cast<int32_t>(5 * i % 9);
  const Tokens part = tokens({stream});
  Tape tape(no_record());
  double nats = 0;
  for (int64_t start = 0; start < 19; start += 8) {
    const int64_t length = std::min<int64_t>(8, 19 - start);
    const Batch block{{{1, length}, DType::i32, stream.data() + start},
                      {{1, length}, DType::i32, stream.data() + start + 1}};
    nats += model->loss(tape, block, Reduce::sum).loss.value().at(0);
    tape.reset();
  }
  const std::optional<Evaluation> all = evaluate(*model, tape, part), some = evaluate(*model, tape, part, 9);
  ASSERT_TRUE(all && some);
  EXPECT_EQ(all->targets, 19);
  EXPECT_NEAR(all->nats, nats, 1e-12);
  EXPECT_EQ(some->targets, 16);  // whole blocks that hold nine
}

TEST(Evaluation, AnEmptyPartHasNoLoss) {
  const auto model = make_model(config(), DType::f64);
  Tape tape(no_record());
  EXPECT_FALSE(evaluate(*model, tape, tokens({})));
  EXPECT_FALSE(evaluate(*model, tape, tokens({{1}})));
}

}  // namespace
}  // namespace tril
