// Optimizers and schedules against PyTorch's (optimizer.json and schedules.json, made in float64).
#include <gtest/gtest.h>

#include <cstdlib>

#include "numbers.h"
#include "tril/train/optimizer.h"
#include "tril/train/schedule.h"

namespace tril::parity {
namespace {

using nlohmann::json;

std::vector<double> read(const Tensor& tensor) {
  std::vector<double> out;
  for (int64_t i = 0; i < tensor.count(); ++i) out.push_back(tensor.at(i));
  return out;
}

template <class T>
void fill(const Tensor& tensor, const json& values) {
  for (int64_t i = 0; i < tensor.count(); ++i) {
    tensor.as<T>()[i] = static_cast<T>(values[static_cast<size_t>(i)].get<float>());
  }
}

/// Makes the stored 20 steps and gives the largest difference of weights, moments and norms.
template <class T>
double replay(const json& all, const json& stored, Engine engine) {
  Parameters parameters(dtype_of<T>());
  const std::vector<std::string> names{"matrix", "vector"};
  parameters.add("matrix", {5, 7});
  parameters.add("vector", {4});
  parameters.allocate();
  for (int i = 0; i < 2; ++i)
    fill<T>(parameters.value(i), all["start"][names[static_cast<size_t>(i)]]["data"]);

  TrainSettings settings;
  settings.optimizer = text(stored["optimizer"]);
  settings.learning_rate = stored["learning_rate"];
  settings.beta1 = stored["beta1"];
  settings.beta2 = stored["beta2"];
  settings.epsilon = stored["epsilon"];
  settings.weight_decay = stored["weight_decay"];
  settings.clip = stored["clip"];
  Optimizer optimizer(parameters, settings, engine);

  double worst = 0;
  const auto compare = [&](const Tensor& got, const json& expected) {
    worst = std::max(worst, largest_difference(read(got), expected.get<std::vector<double>>()));
  };
  for (int64_t step = 1; step <= std::ssize(all["gradients"]); ++step) {
    const json& gradients = all["gradients"][static_cast<size_t>(step - 1)];
    for (int i = 0; i < 2; ++i) fill<T>(parameters.grad(i), gradients[names[static_cast<size_t>(i)]]);
    const double norm = optimizer.gradient_norm();
    worst = std::max(worst, std::abs(norm - stored["norms"][static_cast<size_t>(step - 1)].get<double>()) /
                                std::max(1.0, norm));
    optimizer.update(step, settings.learning_rate, norm);
    const auto after = stored["after"].find(std::to_string(step));
    if (after == stored["after"].end()) continue;
    for (int i = 0; i < 2; ++i) compare(parameters.value(i), (*after)[names[static_cast<size_t>(i)]]);
  }
  for (int i = 0; i < 2; ++i) {
    const auto name = names[static_cast<size_t>(i)];
    compare(optimizer.moment1(i), stored["m"][name]);
    compare(optimizer.moment2(i), stored["v"][name]);
  }
  return worst;
}

TEST(ParityOptimizer, AdamAndAdamWFor20StepsOnStoredGradients) {
  const json all = load("optimizer");
  double in_double = 0, in_float = 0;
  for (const json& stored : all["cases"]) {
    SCOPED_TRACE(text(stored["optimizer"]) + ", weight decay " + stored["weight_decay"].dump() + ", clip " +
                 stored["clip"].dump());
    in_double = std::max(in_double, replay<double>(all, stored, Engine::reference));
    EXPECT_LE(in_double, 1e-13);
    for (Engine engine : {Engine::reference, Engine::fast})
      in_float = std::max(in_float, replay<float>(all, stored, engine));
    EXPECT_LE(in_float, 1e-6);
  }
  RecordProperty("largest_difference_f64", scientific(in_double));
  RecordProperty("largest_difference_f32", scientific(in_float));
}

TEST(ParitySchedule, EveryRateOfEverySchedule) {
  const auto cases = load("schedules")["cases"];
  for (const json& stored : cases) {
    SCOPED_TRACE(stored["schedule"].dump() + ", warm-up " + stored["warmup"].dump());
    TrainSettings settings;
    settings.schedule = text(stored["schedule"]);
    settings.learning_rate = stored["learning_rate"];
    settings.min_learning_rate = stored["min_learning_rate"];
    settings.warmup = stored["warmup"];
    settings.steps = stored["steps"];
    settings.cooldown = stored["cooldown"];
    const auto rates = stored["rates"].get<std::vector<double>>();
    for (int64_t step = 1; step <= std::ssize(rates); ++step) {
      EXPECT_NEAR(learning_rate_at(settings, step), rates[static_cast<size_t>(step - 1)], 1e-14)
          << "step " << step;
    }
  }
}

}  // namespace
}  // namespace tril::parity
