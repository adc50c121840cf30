// tril's random numbers against PyTorch's and CPython's own (torch_random.json, python_random.json).
#include <gtest/gtest.h>

#include "numbers.h"
#include "tril/tensor/python_random.h"
#include "tril/tensor/random.h"

namespace tril::parity {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

constexpr double kNormalLimit = 1e-6;

Floats rand(TorchGenerator& g, size_t n) {
  Floats out(n);
  for (float& value : out) value = g.rand();
  return out;
}

Floats normal(TorchGenerator& g, size_t n, double mean = 0, double deviation = 1) {
  Floats out(n);
  g.normal(out, mean, deviation);
  return out;
}

Integers randint(TorchGenerator& g, size_t n, int64_t low, int64_t high) {
  Integers out(n);
  g.randint(std::span(out), low, high);
  return out;
}

TEST(ParityTorchRandom, DrawsOfEverySeedInOneSequence) {
  const auto cases = load("torch_random")["cases"];
  for (const auto& stored : cases) {
    SCOPED_TRACE("seed " + stored["seed"].get<std::string>());
    TorchGenerator g(std::stoull(stored["seed"].get<std::string>()));
    EXPECT_EQ(rand(g, 5), stored["rand"].get<Floats>());
    EXPECT_EQ(randint(g, 5, 0, 1000), stored["randint"].get<Integers>());
    const auto near = [&](const Floats& values, const char* name) {
      EXPECT_LE(largest_difference(values, stored[name].get<Floats>()), kNormalLimit) << name;
    };
    near(normal(g, 5), "randn");
    near(normal(g, 2), "randn_next");
    near(normal(g, 16), "randn_16");
    near(normal(g, 17), "randn_17");
    near(normal(g, 33, -0.5, 0.08), "normal");
    near(normal(g, 2, 2.0, 3.0), "normal_kept");
    EXPECT_EQ(g.randperm(9), stored["randperm"].get<Integers>());
    EXPECT_EQ(randint(g, 3, -5, 70279), stored["randint_after"].get<Integers>());
  }
}

TEST(ParityTorchRandom, LongDrawsAreTheSameBits) {
  const auto stored = load("torch_random")["long"];
  TorchGenerator g(7);
  EXPECT_EQ(digest(rand(g, 100'003)), text(stored["rand"]["sha256"]));
  Floats uniform(100'003);
  g.uniform(uniform, -0.1, 0.3);
  EXPECT_EQ(digest(uniform), text(stored["uniform"]["sha256"]));
  EXPECT_EQ(digest(randint(g, 76'800, 0, 70'279)), text(stored["randint"]["sha256"]));
  EXPECT_EQ(digest(g.randperm(70'279)), text(stored["randperm"]["sha256"]));

  const Floats x = normal(g, 20'001);
  double sum = 0, square_sum = 0;
  Floats every_1000th;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += x[i];
    square_sum += double{x[i]} * x[i];
    if (i % 1000 == 0) every_1000th.push_back(x[i]);
  }
  EXPECT_NEAR(sum, stored["randn"]["sum"].get<double>(), 2e-3);  // 20,001 times the rounding of one
  EXPECT_NEAR(square_sum, stored["randn"]["square_sum"].get<double>(), 4e-3);
  EXPECT_LE(largest_difference(every_1000th, stored["randn"]["every_1000th"].get<Floats>()), kNormalLimit);
}

TEST(ParityTorchRandom, RangesThatTake64BitsForOneInteger) {
  const auto cases = load("torch_random")["ranges"];
  for (const auto& stored : cases) {
    SCOPED_TRACE(stored["high"].dump());
    TorchGenerator g(3);
    EXPECT_EQ(randint(g, 4, stored["low"], stored["high"]), stored["values"].get<Integers>());
    EXPECT_EQ(rand(g, 1), stored["after"].get<Floats>());
  }
}

TEST(ParityTorchRandom, LinearLayersStartTheSame) {
  const auto cases = load("torch_random")["linear"];
  for (const auto& stored : cases) {
    const int64_t inputs = stored["inputs"], outputs = stored["outputs"];
    SCOPED_TRACE(inputs);
    TorchGenerator g(static_cast<uint64_t>(inputs));
    Floats weight(static_cast<size_t>(inputs * outputs)), bias(static_cast<size_t>(outputs));
    g.linear_weight(weight, inputs);
    g.linear_bias(bias, inputs);
    EXPECT_EQ(digest(weight), text(stored["weight"]["sha256"]));
    EXPECT_EQ(bias, stored["bias"].get<Floats>());
  }
}

TEST(ParityPythonRandom, EveryMethodInOneSequence) {
  const auto cases = load("python_random")["cases"];
  for (const auto& stored : cases) {
    SCOPED_TRACE(stored["seed"].dump());
    PythonRandom r(stored["seed"].get<int64_t>());
    for (double expected : stored["random"]) EXPECT_EQ(r.random(), expected);
    for (double expected : stored["gauss"]) EXPECT_DOUBLE_EQ(r.gauss(0, 0.08), expected);
    EXPECT_EQ(r.random(), stored["random_between"].get<double>());
    EXPECT_DOUBLE_EQ(r.gauss(1.5, 2.0), stored["gauss_kept"].get<double>());
    for (const auto& pair : stored["getrandbits"]) {
      EXPECT_EQ(r.getrandbits(pair[0].get<int>()), pair[1].get<uint64_t>()) << pair[0];
    }
    for (const auto& pair : stored["randrange"]) {
      EXPECT_EQ(r.randrange(pair[0].get<uint64_t>()), pair[1].get<uint64_t>()) << pair[0];
    }
    for (int64_t expected : stored["randrange_low"]) EXPECT_EQ(r.randrange(-20, 13), expected);
    Integers items(30);
    for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int64_t>(i);
    r.shuffle(std::span(items));
    EXPECT_EQ(items, stored["shuffle"].get<Integers>());
    const std::vector<double> weights{0.1, 0.0, 2.5, 1e-9, 0.7, 0.7};
    for (size_t expected : stored["choices_weighted"]) EXPECT_EQ(r.choice(weights), expected);
    for (size_t expected : stored["choices"]) EXPECT_EQ(r.choice(27), expected);
    EXPECT_EQ(r.uniform(-2.0, 5.0), stored["uniform"].get<double>());
  }
}

TEST(ParityPythonRandom, LongDrawsAreTheSameBits) {
  const auto stored = load("python_random")["long"];
  PythonRandom r(42);
  Integers items(32'033);
  for (size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int64_t>(i);
  r.shuffle(std::span(items));
  EXPECT_EQ(digest(items), text(stored["shuffle"]["sha256"]));
  std::vector<double> gauss(4192), random(10'000);
  for (double& value : gauss) value = r.gauss(0, 0.08);
  EXPECT_EQ(digest(gauss), text(stored["gauss"]["sha256"]));
  for (double& value : random) value = r.random();
  EXPECT_EQ(digest(random), text(stored["random"]["sha256"]));
}

}  // namespace
}  // namespace tril::parity
