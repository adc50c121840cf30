#include "tril/model/narrow_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tril/base/build_info.h"
#include "tril/model/decoder_testing.h"
#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

ModelConfig narrow_config(ModelConfig c, int64_t width, int64_t head) {
  c.d_model = width, c.heads = width / head, c.hidden = 2 * width, c.vocab_size = 27;
  if (c.kv_heads > 0) c.kv_heads = c.heads / 2;
  if (c.d_v > 0) c.d_v = 2 * width;
  return c;
}

std::vector<float> step(const Model& model, bool ops, std::vector<int32_t> ids, Cache& cache) {
  Tape tape({Engine::fast, DType::f32, false, ops});  // a trace shows values, so it runs the ops
  const Var y =
      model.step(tape, {{static_cast<int64_t>(ids.size()), 1}, DType::i32, ids.data()}, cache, Rows::last);
  EXPECT_EQ(y.shape(), (Shape{static_cast<int64_t>(ids.size()), 1, model.config().vocab_size}));
  return {y.v<float>(), y.v<float>() + y.count()};
}

void expect_near(const std::vector<float>& found, const std::vector<float>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  float largest = 1;
  for (float logit : wanted) largest = std::max(largest, std::fabs(logit));
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], wanted[i], 1e-5f * largest) << "logit " << i;
}

// Two texts side by side, token by token until the context is full, then from the start again; a weight of
// each parameter changes on the way.
void expect_as_the_ops(const ModelConfig& config) {
  const std::unique_ptr<Model> model = drawn(config, DType::f32);
  const auto one = model->make_cache(2, config.context), other = model->make_cache(2, config.context);
  Parameters& p = model->parameters();
  for (int64_t n = 0; n < 2 * config.context; ++n) {
    SCOPED_TRACE("token " + std::to_string(n));
    if (n == config.context) one->rewind(0), other->rewind(0);
    if (n == 3)
      for (int i = 0; i < p.size(); ++i) p.value(i).as<float>()[p.value(i).count() / 2] += 0.5f;
    const std::vector<int32_t> ids = {static_cast<int32_t>(5 * n + 1) % 27, static_cast<int32_t>(7 * n) % 27};
    expect_near(step(*model, false, ids, *one), step(*model, true, ids, *other));
  }
}

bool has_vectors() {
  return vector_level() != "SCALAR" && vector_level() != "EMU128";
}

// Every switch of a decoder, at every vector level. Those that the ops keep for themselves are named.
TEST(NarrowStep, GivesTheLogitsOfTheOps) {
  const std::set<std::string> left_to_ops = {"sinusoidal", "rotary_half", "rotary_interleaved", "qk_norm",
                                             "shared_key_heads"};
  int64_t steps = 0;
  each_vector_level([&] {
    for (const auto& [name, variant] : decoder_variants()) {
      if (variant.mask != "causal") continue;
      const ModelConfig config = narrow_config(variant, 16, 4);
      const bool fits = narrow_decoder(config).fits;
      if (left_to_ops.count(name) > 0) {
        EXPECT_FALSE(fits) << name;
      } else if (has_vectors()) {
        EXPECT_TRUE(fits) << name;
      }
      if (!fits) continue;
      SCOPED_TRACE(name);
      ++steps;
      expect_as_the_ops(config);
    }
  });
  EXPECT_GE(steps, static_cast<int64_t>(decoder_variants().size() - left_to_ops.size() - 1));
}

TEST(NarrowStep, TakesWidthsAndHeadsOfWholeVectors) {
  each_vector_level([&] {
    int taken = 0;
    for (const int64_t width : {16, 32, 48, 64})
      for (const int64_t head : {4, 8, 16})
        for (const int64_t vocabulary : {16, 27, 32, 65}) {
          ModelConfig config = narrow_config(small_decoder(), width, head);
          config.vocab_size = vocabulary, config.hidden = 3 * width + 16;
          if (!narrow_decoder(config).fits) continue;
          SCOPED_TRACE("width " + std::to_string(width) + " head " + std::to_string(head) + " vocabulary " +
                       std::to_string(vocabulary));
          const std::unique_ptr<Model> model = drawn(config, DType::f32);
          const auto one = model->make_cache(1, 8), other = model->make_cache(1, 8);
          for (int32_t n = 0; n < 8; ++n)
            expect_near(step(*model, false, {n}, *one), step(*model, true, {n}, *other));
          ++taken;
        }
    if (has_vectors()) {
      EXPECT_GE(taken, 16);  // heads of 4, whatever the vector
    }
  });
}

// What it can't hold or does not know goes to the ops, on any machine.
TEST(NarrowStep, LeavesTheRestToTheOps) {
  const auto fits = [](const std::function<void(ModelConfig&)>& change) {
    ModelConfig config = narrow_config(small_decoder(), 16, 4);
    change(config);
    return narrow_decoder(config).fits;
  };
  EXPECT_FALSE(fits([](ModelConfig& c) { c.d_model = 80, c.heads = 20; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.d_model = 20, c.heads = 5; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.hidden = 1024; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.hidden = 35; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.heads = 8; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.context = 65; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.vocab_size = 3; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.lora.rank = 2; }));
  EXPECT_FALSE(fits([](ModelConfig& c) { c.mask = "none"; }));
}

// After the first token no memory is asked for.
TEST(NarrowStep, ATokenAllocatesNothing) {
  const ModelConfig config = narrow_config(small_decoder(), 16, 4);
  const std::unique_ptr<Model> model = drawn(config, DType::f32);
  const auto cache = model->make_cache(1, 8);
  Tape tape({Engine::fast, DType::f32, false});
  int32_t id = 1;
  int64_t calls = 0;
  for (int n = 0; n < 8; ++n) {
    tape.reset();
    model->step(tape, {{1, 1}, DType::i32, &id}, *cache, Rows::last);
    if (n == 0) calls = tape.arena().system_calls();
  }
  EXPECT_EQ(tape.arena().system_calls(), calls);
}

}  // namespace
}  // namespace tril
