// The order and kind of draws that make PyTorch's initial weights (initial_weights.json), by tril's
// generator: embeddings are normal (row 0 of the teaching model's token table is zeroed), linear layers
// uniform ±1/√fan_in, weight before bias; norms draw nothing.
#include <gtest/gtest.h>

#include "numbers.h"
#include "tril/tensor/random.h"

namespace tril::parity {
namespace {

void draw(TorchGenerator& g, const std::string& name, const std::vector<int64_t>& shape, int64_t& fan_in,
          std::vector<float>& out) {
  if (name.find("ln") != std::string::npos) {
    std::fill(out.begin(), out.end(), name.ends_with("weight") ? 1.0f : 0.0f);
  } else if (name.starts_with("token") || name.starts_with("position")) {
    g.randn(out);
  } else if (name.ends_with("weight")) {
    fan_in = shape[1];
    g.linear_weight(out, fan_in);
  } else {
    g.linear_bias(out, fan_in);
  }
}

class InitialWeights : public testing::TestWithParam<const char*> {};

TEST_P(InitialWeights, AreTheSameFromTheSameSeed) {
  const auto stored = load("initial_weights")[GetParam()];
  const bool padded = std::string(GetParam()) != "tiny_gpt_abc";
  TorchGenerator g(stored["seed"].get<uint64_t>());
  int64_t fan_in = 0;
  double largest = 0;
  for (const auto& weight : stored["weights"]) {
    const std::string name = weight["name"];
    SCOPED_TRACE(name);
    const auto shape = weight["shape"].get<std::vector<int64_t>>();
    std::vector<float> out(weight["count"].get<size_t>());
    draw(g, name, shape, fan_in, out);
    const bool normal = name.starts_with("token") || name.starts_with("position");
    if (padded && name == "token.weight") std::fill_n(out.begin(), shape[1], 0.0f);
    if (!normal) {
      EXPECT_EQ(digest(out), text(weight["sha256"]));
    }
    double sum = 0, square_sum = 0;
    for (float value : out) {
      sum += value;
      square_sum += double{value} * value;
    }
    const double count = static_cast<double>(out.size());
    EXPECT_NEAR(sum, weight["sum"].get<double>(), 1e-7 * count);
    EXPECT_NEAR(square_sum, weight["square_sum"].get<double>(), 2e-7 * count);
    const std::vector<float> start(out.begin(), out.begin() + std::min<std::ptrdiff_t>(20, std::ssize(out)));
    largest = std::max(largest, largest_difference(start, weight["start"].get<std::vector<float>>()));
  }
  EXPECT_LE(largest, 1e-6);
  RecordProperty("largest_difference", scientific(largest));
  for (int64_t expected : stored["next"]) EXPECT_EQ(g.randint(0, 1000), expected);
}

INSTANTIATE_TEST_SUITE_P(Parity, InitialWeights,
                         testing::Values("one_head_smoke", "four_heads_odd", "tiny_gpt_abc"));

}  // namespace
}  // namespace tril::parity
