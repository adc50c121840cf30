// Two ways of running a decoder's step that must change nothing but memory: blocks run again in backward, and
// a tape that only counts. Each is held, for every switch of the decoder, to a step as it is taken.
#include <gtest/gtest.h>

#include <cstring>

#include "tril/model/decoder_testing.h"

namespace tril {
namespace {

struct Step {
  double loss = 0;
  std::vector<char> gradients;
  size_t most_used = 0;
};

constexpr int64_t kBatch = 32, kLength = 8;

Step take_step(const ModelConfig& config, TapeOptions options) {
  std::unique_ptr<Model> model = drawn(config, options.dtype);
  std::vector<int32_t> ids, targets;
  for (int32_t i = 0; i < kBatch * kLength; ++i) ids.push_back(i * 5 % 9), targets.push_back(i * 7 % 9);
  const Batch batch{id_tensor(ids, {kBatch, kLength}), id_tensor(targets, {kBatch, kLength})};
  Tape tape(options);
  tape.set_draws(5, 3);
  const CrossEntropy out = model->loss(tape, batch, Reduce::mean);
  tape.backward(out.loss);
  Step step;
  if (!options.counting) step.loss = out.loss.value().at(0);
  const Tensor gradients = model->parameters().flat_grads();
  const char* bytes = static_cast<const char*>(gradients.data);
  step.gradients.assign(bytes, bytes + gradients.bytes());
  step.most_used = tape.arena().most_used();
  return step;
}

class Recompute : public testing::TestWithParam<std::pair<std::string, ModelConfig>> {
 protected:
  static ModelConfig config() {
    ModelConfig c = GetParam().second;
    c.layers = 6;
    return c;
  }
};

TEST_P(Recompute, SameBitsInLessMemory) {
  for (const TapeOptions& options :
       {TapeOptions{Engine::fast, DType::f32}, TapeOptions{Engine::reference, DType::f64}}) {
    TapeOptions again = options;
    again.recompute = true;
    const Step kept = take_step(config(), options), twice = take_step(config(), again);
    EXPECT_EQ(kept.loss, twice.loss);
    EXPECT_EQ(kept.gradients, twice.gradients);
    EXPECT_LT(twice.most_used, kept.most_used / 2);
  }
}

// A record of a step takes some 100 bytes, which counting leaves out.
TEST_P(Recompute, CountingGivesTheMemoryOfTheStepItDoesNotTake) {
  for (const bool recompute : {false, true}) {
    for (TapeOptions options :
         {TapeOptions{Engine::fast, DType::f32}, TapeOptions{Engine::reference, DType::f64}}) {
      options.recompute = recompute;
      TapeOptions count = options;
      count.counting = true;
      const Step taken = take_step(config(), options), counted = take_step(config(), count);
      EXPECT_LE(counted.most_used, taken.most_used);
      EXPECT_GE(static_cast<double>(counted.most_used), 0.97 * static_cast<double>(taken.most_used));
      for (const char byte : counted.gradients) ASSERT_EQ(byte, 0);  // nothing was computed
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Recompute, testing::ValuesIn(decoder_variants()),
                         [](const auto& p) { return p.param.first; });

TEST(CountingTape, WindowModelsCountToo) {
  for (const char* family : {"window_attention", "window_mlp"}) {
    std::unique_ptr<Model> model = make_model(small_config(family), DType::f32);
    std::vector<int32_t> ids(5 * 400, 3), targets(400, 2);
    const Batch batch{id_tensor(ids, {400, 5}), id_tensor(targets, {400})};
    Tape taken, counted({.counting = true});
    taken.backward(model->loss(taken, batch, Reduce::mean).loss);
    counted.backward(model->loss(counted, batch, Reduce::mean).loss);
    EXPECT_LE(counted.arena().most_used(), taken.arena().most_used()) << family;
    EXPECT_GE(static_cast<double>(counted.arena().most_used()),
              0.97 * static_cast<double>(taken.arena().most_used()))
        << family;
  }
}

}  // namespace
}  // namespace tril
