#include <gtest/gtest.h>

#include "tril/formats/foreign_testing.h"
#include "tril/formats/weight_layout.h"

namespace tril {
namespace {

std::string refusal(const ModelConfig& config, Layout layout) {
  return refusal_of([&] { require_counterpart(config, layout, "runs/x"); });
}

TEST(Counterpart, NamesEverySwitchInTheWay) {
  EXPECT_EQ(refusal(small_gpt2(), Layout::kHfGpt2), "");
  EXPECT_EQ(refusal(small_llama(), Layout::kHfLlama), "");
  ModelConfig config = small_gpt2();
  config.norm_place = "post";
  config.position = "sinusoidal";
  config.head_bias = true;
  EXPECT_EQ(
      refusal(config, Layout::kHfGpt2),
      "runs/x: this decoder has no counterpart in Hugging Face's GPT-2: model.norm_place = \"post\" (it has "
      "pre), model.head_bias = true (it has none), model.position = \"sinusoidal\" (it has learned); export "
      "it with --to safetensors");
  config = small_gpt2();
  config.activation = "gelu";
  EXPECT_EQ(refusal(config, Layout::kHfGpt2), "");
  EXPECT_NE(refusal(config, Layout::kGgufGpt2).find("model.activation = \"gelu\" (it has gelu_tanh)"),
            std::string::npos);
  config.family = "window_attention";
  EXPECT_EQ(refusal(config, Layout::kHfGpt2),
            "runs/x: model.family = \"window_attention\" has no counterpart in Hugging Face's GPT-2; export "
            "it with "
            "--to safetensors");
}

}  // namespace
}  // namespace tril
