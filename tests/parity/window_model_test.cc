// The window models as a whole against PyTorch: initial weights of presets (initial_weights.json), and
// logits, loss and every gradient of a padded batch (window_model.json, made in float64).
#include <gtest/gtest.h>

#include <cstdlib>

#include "numbers.h"
#include "tril/model/registry.h"

namespace tril::parity {
namespace {

using nlohmann::json;

std::vector<double> read(const Tensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.count(); ++i) out.push_back(tensor.at(i));
  return out;
}

std::unique_ptr<Model> drawn_model(const ModelConfig& config, DType dtype, uint64_t seed) {
  auto model = make_model(config, dtype);
  TorchGenerator random(seed);
  model->initialize(random);
  return model;
}

ModelConfig window_config(int64_t vocabulary, int64_t context, int64_t d_model, int64_t hidden,
                          int64_t heads) {
  ModelConfig config;
  config.family = "window_attention";
  config.vocab_size = vocabulary;
  config.context = context;
  config.d_model = d_model;
  config.hidden = hidden;
  config.heads = heads;
  return config;
}

TEST(ParityWindowModel, InitialWeightsOfTheSmokePresetAndOfFourHeads) {
  const json stored = load("initial_weights");
  for (const auto& [name, config] : {std::pair("one_head_smoke", window_config(1500, 12, 48, 160, 1)),
                                     std::pair("four_heads_odd", window_config(101, 7, 20, 33, 4))}) {
    const auto model = drawn_model(config, DType::f32, stored[name]["seed"].get<uint64_t>());
    const json& weights = stored[name]["weights"];
    ASSERT_EQ(model->parameters().size(), static_cast<int>(weights.size()));
    for (int i = 0; i < model->parameters().size(); ++i) {
      const json& weight = weights[static_cast<size_t>(i)];
      SCOPED_TRACE(model->parameters().info(i).name);
      const Tensor value = model->parameters().value(i);
      ASSERT_EQ(value.count(), weight["count"].get<int64_t>());
      if (weight["shape"].size() == 2) {
        EXPECT_EQ(value.shape, (Shape{weight["shape"][0], weight["shape"][1]}));
      }
      const auto numbers = read(value);
      const std::vector<double> start(numbers.begin(),
                                      numbers.begin() + std::min<std::ptrdiff_t>(20, std::ssize(numbers)));
      EXPECT_LE(largest_difference(start, weight["start"].get<std::vector<double>>()), 1e-6);
      double sum = 0;
      for (double number : numbers) sum += number;
      EXPECT_NEAR(sum, weight["sum"].get<double>(), 1e-7 * static_cast<double>(numbers.size()));
    }
  }
}

/// Loads the stored float32 weights, so that what is compared is the calculation alone; gives the largest
/// difference of logits, loss and gradients.
template <class T>
double step_difference(const json& all, const json& stored, Engine engine) {
  ModelConfig config =
      window_config(all["vocabulary"], all["context"], all["d_model"], all["hidden"], stored["heads"]);
  config.family = text(stored["family"]);
  const auto model = drawn_model(config, dtype_of<T>(), stored["seed"].get<uint64_t>());
  Parameters& parameters = model->parameters();
  double worst = 0;
  for (int i = 0; i < parameters.size(); ++i) {
    const auto weights = stored["weights"][static_cast<size_t>(i)]["data"].get<std::vector<float>>();
    const auto drawn = read(parameters.value(i));
    EXPECT_LE(largest_difference(drawn, weights), 1e-6) << parameters.info(i).name;
    std::copy(weights.begin(), weights.end(), parameters.value(i).as<T>());
  }
  auto ids = all["ids"]["data"].get<std::vector<int32_t>>(),
       targets = all["targets"]["data"].get<std::vector<int32_t>>();
  const int64_t batch = std::ssize(targets);
  Tape tape({engine, dtype_of<T>()});
  const Batch examples{{{batch, config.context}, DType::i32, ids.data()},
                       {{batch}, DType::i32, targets.data()}};
  const Var logits = model->forward(tape, examples.ids, Rows::last);
  worst = std::max(
      worst, largest_difference(read(logits.value()), stored["logits"]["data"].get<std::vector<double>>()));

  tape.reset();
  parameters.zero_grads();
  const CrossEntropy loss = model->loss(tape, examples, Reduce::mean);
  EXPECT_EQ(loss.counted, batch);
  worst = std::max(worst, std::abs(loss.loss.value().at(0) - stored["loss"].get<double>()));
  tape.backward(loss.loss);
  for (int i = 0; i < parameters.size(); ++i) {
    const auto expected = stored["weights"][static_cast<size_t>(i)]["grad"].get<std::vector<double>>();
    worst = std::max(worst, largest_difference(read(parameters.grad(i)), expected));
  }
  return worst;
}

TEST(ParityWindowModel, LogitsLossAndEveryGradientOfAPaddedBatch) {
  const json all = load("window_model");
  for (const json& stored : all["cases"]) {
    SCOPED_TRACE(stored["family"].dump() + ", heads " + stored["heads"].dump());
    EXPECT_LE(step_difference<double>(all, stored, Engine::reference), 1e-13);
    EXPECT_LE(step_difference<float>(all, stored, Engine::reference), 1e-6);
    EXPECT_LE(step_difference<float>(all, stored, Engine::fast), 1e-6);
  }
}

}  // namespace
}  // namespace tril::parity
