#include "tril/model/first_loss.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tril {
namespace {

ModelConfig of(const std::string& init, int64_t width, int64_t vocabulary) {
  ModelConfig config;
  config.family = "decoder";
  config.init = init;
  config.d_model = width;
  config.vocab_size = vocabulary;
  return config;
}

// TinyGPT: uniform ±1/√16 has variance 1/(3·16); sixteen of them on numbers of variance 1 have 1/3.
TEST(FirstLoss, ANormBeforeTheHeadSpreadsTheLogits) {
  EXPECT_DOUBLE_EQ(fresh_logit_variance(of("torch", 16, 3)), 1.0 / 3);
  EXPECT_DOUBLE_EQ(expected_first_loss(of("torch", 16, 3)), std::log(3.0) + 1.0 / 6);
  EXPECT_NEAR(expected_first_loss(of("gpt2", 768, 50257)), 10.8249 + 0.1536, 1e-4);
  ModelConfig tied = of("torch", 16, 1000);
  tied.tied = true;
  EXPECT_DOUBLE_EQ(fresh_logit_variance(tied), 16);
}

TEST(FirstLoss, WithoutANormItIsThatOfAnEvenGuess) {
  ModelConfig none = of("microgpt", 16, 27);
  none.final_norm = false;
  EXPECT_DOUBLE_EQ(expected_first_loss(none), std::log(27.0));
  ModelConfig window = of("torch", 48, 1500);
  window.family = "window_attention";
  EXPECT_DOUBLE_EQ(expected_first_loss(window), std::log(1500.0));
}

// The formula against drawn logits: the mean over many rows of log sum exp less one logit.
TEST(FirstLoss, TheFormulaHoldsForDrawnLogits) {
  std::mt19937 random(11);
  for (const double width :
       {1.0, 8.0}) {  // tied, so that the variance is the width: 1, and 8 of 2 ln V = 13.8
    ModelConfig config = of("torch", static_cast<int64_t>(width), 1000);
    config.tied = true;
    std::normal_distribution<double> normal(0, std::sqrt(width));
    double sum = 0;
    constexpr int kRows = 400;
    for (int row = 0; row < kRows; ++row) {
      double exps = 0, first = 0;
      for (int i = 0; i < 1000; ++i) {
        const double logit = normal(random);
        if (i == 0) first = logit;
        exps += std::exp(logit);
      }
      sum += std::log(exps) - first;
    }
    EXPECT_NEAR(sum / kRows, expected_first_loss(config), 0.5) << width;
  }
}

}  // namespace
}  // namespace tril
