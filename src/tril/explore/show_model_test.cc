#include "tril/explore/show_model.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/token_file.h"

namespace tril {
namespace {
using nlohmann::json;

class ShowModel : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::shared_ptr<const BpeTokenizer> tokenizer_ = small_tokenizer();
};

TEST_F(ShowModel, ReadsEveryNumberOfAFolder) {
  const auto model = filled_model(small_gpt2(270));
  model->parameters().value(model->parameters().find("blocks.0.mlp.up.bias")).as<float>()[1] = NAN;
  export_hf(exported(*model, *tokenizer_), folder_ / "hf");
  const Shown shown = show(folder_ / "hf");
  EXPECT_EQ(shown.kind, "huggingface");
  EXPECT_EQ(json::parse(shown.metadata)["architecture"], "gpt2");
  EXPECT_EQ(json::parse(shown.metadata)["end_tokens"], json{269});
  ASSERT_EQ(shown.warnings.size(), 1u);
  EXPECT_NE(shown.warnings[0].find("'transformer.h.0.mlp.c_fc.bias' holds NaN (1 of 6 elements)"),
            std::string::npos);
}

TEST_F(ShowModel, TellsModelsFromTokens) {
  export_llama2c(exported(*filled_model(small_llama(270)), *tokenizer_), folder_ / "m.bin");
  EXPECT_EQ(show(folder_ / "m.bin").kind, "llama2c");
  write_token_file(folder_ / "t.bin", std::vector<int32_t>{7, 300, 2}, 16);
  const Shown tokens = show(folder_ / "t.bin");
  EXPECT_EQ(tokens.kind, "tokens");
  EXPECT_EQ(json::parse(tokens.metadata),
            json::parse(R"({"tokens": 3, "bits": 16, "header": null, "largest_id": 300})"));
  write_file_atomically(folder_ / "odd.bin", "abc");
  EXPECT_NE(refusal_of([&] { show(folder_ / "odd.bin"); }).find("no whole number of ids"), std::string::npos);
}

TEST_F(ShowModel, SaysOfAConfigWhatKeepsItFromImport) {
  write_file_atomically(folder_ / "config.json", R"({"model_type": "gpt9"})");
  const Shown shown = show(folder_ / "config.json");
  EXPECT_EQ(shown.kind, "config.json");
  ASSERT_EQ(shown.warnings.size(), 1u);
  EXPECT_NE(shown.warnings[0].find("model_type is 'gpt9'; tril reads gpt2 and llama"), std::string::npos);
}

}  // namespace
}  // namespace tril
