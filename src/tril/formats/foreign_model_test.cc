#include "tril/formats/foreign_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

class ForeignModels : public testing::Test {
 protected:
  ForeignModels() : tokenizer_(small_tokenizer()) {}
  std::string written(const ModelConfig& config) {
    export_hf(exported(*filled_model(config), *tokenizer_), folder_ / "hf");
    return folder_ / "hf";
  }
  TemporaryFolder folder_;
  std::shared_ptr<const BpeTokenizer> tokenizer_;
};

TEST_F(ForeignModels, AreKnownByFolderOrEnding) {
  const std::string hf = written(small_gpt2(270));
  EXPECT_TRUE(is_foreign_model(hf));
  EXPECT_TRUE(is_foreign_model("x.gguf"));
  EXPECT_FALSE(is_foreign_model(folder_.path()));
  EXPECT_FALSE(is_foreign_model("x.txt"));
  write_file_atomically(hf + "/config.toml", "");
  EXPECT_FALSE(is_foreign_model(hf));  // a run
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf + "/"); }),
            hf + ": is a run of tril's already; use it as it is");
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf + "/config.json"); }),
            hf + "/config.json: is a JSON file, which holds no weights; give the Hugging Face folder that it "
                 "lies in");
}

// Rows that no token stands for could be drawn and would enter the loss: they are left out.
TEST_F(ForeignModels, PaddedVocabulariesAreCut) {
  const ForeignModel foreign = open_foreign_model(written(small_llama(320)));
  EXPECT_EQ(foreign.config.vocab_size, 320);
  const auto whole = filled_model(small_llama(320)), cut = load_foreign_model(foreign, DType::f32, INT64_MAX);
  EXPECT_EQ(cut->config().vocab_size, 270);
  for (const char* name : {"token_embedding.weight", "head.weight", "blocks.1.mlp.down.weight"}) {
    const auto a = whole->parameters().value(whole->parameters().find(name)).span<float>();
    const auto b = cut->parameters().value(cut->parameters().find(name)).span<float>();
    EXPECT_TRUE(std::equal(b.begin(), b.end(), a.begin())) << name;
  }
}

// Case 10, of other programs' models.
TEST_F(ForeignModels, TokensBeyondTheRowsAreRefused) {
  const std::string hf = written(small_llama(261));
  EXPECT_NE(refusal_of([&] { open_foreign_model(hf); }).find("eos_token_id is 269, the model has 261 rows"),
            std::string::npos);
  write_file_atomically(hf + "/generation_config.json", "{\"eos_token_id\": null}");
  std::string config = read_file(hf + "/config.json");
  config.replace(config.find("269"), 3, "260");
  write_file_atomically(hf + "/config.json", config);
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
            hf + ": the tokenizer has 270 tokens, the model 261 rows; the last tokens would have no row");
}

// The model has a row for it, which stands for no token and is cut off.
TEST_F(ForeignModels, AnEndBehindTheTokenizersLastTokenIsRefused) {
  const std::string hf = written(small_llama(320));
  write_file_atomically(hf + "/generation_config.json", "{\"eos_token_id\": [269, 300]}");
  EXPECT_EQ(refusal_of([&] { open_foreign_model(hf); }),
            hf + ": eos_token_id is 300, the tokenizer has 270 tokens");
}

TEST_F(ForeignModels, LargerThanMemoryIsRefusedWithBothNumbers) {
  const std::string hf = written(small_gpt2(270));
  const ForeignModel foreign = open_foreign_model(hf);
  EXPECT_EQ(foreign.f32_bytes(),
            static_cast<uint64_t>(filled_model(small_gpt2(270))->parameters().count()) * 4);
  EXPECT_EQ(refusal_of([&] { load_foreign_model(foreign, DType::f64, 1000); }),
            hf + ": its weights need 11,328 bytes of memory, 1,000 are there");
}

TEST_F(ForeignModels, AnotherTokenizerStandsIn) {
  const std::string hf = written(small_gpt2(270));
  const auto other = small_tokenizer(SplitPattern::kGpt4);
  write_file_atomically(folder_ / "other.json", other->to_json());
  EXPECT_EQ(open_foreign_model(hf, folder_ / "other.json").tokenizer->fingerprint(), other->fingerprint());
  remove_path(hf + "/tokenizer.json");
  EXPECT_EQ(open_foreign_model(hf).tokenizer, nullptr);
}

}  // namespace
}  // namespace tril
