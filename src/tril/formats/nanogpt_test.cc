#include "tril/formats/nanogpt.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

ModelConfig nano(bool bias) {
  ModelConfig config = small_gpt2(270);
  config.activation = "gelu";
  config.hidden = 16;
  config.bias = config.attention_bias = bias;
  return config;
}

TEST(NanoGpt, ComesBackBitForBitWithItsArguments) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.safetensors";
  const auto tokenizer = small_tokenizer();
  write_file_atomically(folder / "tokenizer.json", tokenizer->to_json());
  for (const bool bias : {false, true}) {
    const auto model = filled_model(nano(bias));
    export_nanogpt(exported(*model, *tokenizer), path);
    const SafetensorsFile file(path);
    EXPECT_EQ(
        nlohmann::json::parse(file.metadata().at("model_args")),
        nlohmann::json::parse(R"({"n_layer": 2, "n_head": 2, "n_embd": 4, "block_size": 5, "vocab_size": 270,
                                        "dropout": 0.0, "bias": )" +
                              std::string(bias ? "true}" : "false}")));
    EXPECT_EQ(file.find("transformer.h.0.attn.c_attn.weight")->shape, (std::vector<int64_t>{12, 4}));
    EXPECT_EQ(file.find("transformer.h.0.attn.c_attn.bias") != nullptr, bias);
    expect_same_weights(*model, *load_foreign_model(open_foreign_model(path), DType::f32, INT64_MAX));
  }
}

TEST(NanoGpt, RefusesWhatItCanNotTell) {
  const TemporaryFolder folder;
  const std::string path = folder / "m.safetensors";
  const auto open = [&](const Metadata& metadata) {
    write_safetensors(path, std::vector<StoredTensor>{}, metadata);
    return refusal_of([&] { open_foreign_model(path); });
  };
  EXPECT_NE(open({}).find("its metadata has no model_args"), std::string::npos);
  EXPECT_NE(open({{"model_args", "{"}}), "");
  EXPECT_EQ(open({{"model_args", R"({"n_layer": 0})"}}),
            path + ": model_args: n_layer is 0, an integer of 1 to 1000 is needed");
  EXPECT_EQ(
      refusal_of([&] { export_nanogpt(exported(*filled_model(small_gpt2(270)), *small_tokenizer()), path); }),
      "runs/x: this decoder has no counterpart in nanoGPT: model.activation = \"gelu_tanh\" (it has gelu), "
      "model.hidden = 6 (it has 4 d_model); export it with --to safetensors");
}

}  // namespace
}  // namespace tril
