#include "tril/train/base_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/train/import_run.h"
#include "tril/train/train_testing.h"

namespace tril {
namespace {

using testing::HasSubstr;

class BaseModelTest : public testing::Test {
 protected:
  BaseModelTest() {
    const auto tokenizer = small_tokenizer();
    write_hf(folder_ / "hf", 270);
    export_gguf(exported(*filled_model(small_llama(270)), *tokenizer), folder_ / "model.gguf", "F32");
    const ForeignModel foreign = open_foreign_model(folder_ / "hf");
    write_imported_run(folder_ / "run", foreign, *load_foreign_model(foreign, DType::f32, INT64_MAX));
  }
  void write_hf(const std::string& path, int64_t rows) {
    const auto tokenizer = small_tokenizer();
    export_hf(exported(*filled_model(small_llama(rows)), *tokenizer), path);
  }
  /// A configuration gathered over the defaults of fine-tuning.
  Config gathered(const BaseModel& base, const std::vector<std::string>& settings) {
    ConfigBuilder builder;
    builder.add_defaults(fine_tuning_defaults(base), "--from");
    builder.set_flag("--from", "train.from", base.path());
    for (const std::string& setting : settings) builder.set(setting);
    base.fix(builder);
    return builder.finish();
  }
  TemporaryFolder folder_;
};

TEST_F(BaseModelTest, ARunAFolderAndAFileGiveTheSameModel) {
  const auto filled = filled_model(small_llama(270));
  for (const char* name : {"run", "hf", "model.gguf"}) {
    const auto base = BaseModel::open(folder_ / name);
    EXPECT_EQ(base->config().vocab_size, 270);
    EXPECT_EQ(base->config().kv_heads, 1);
    EXPECT_EQ(base->tokenizer()->fingerprint(), small_tokenizer()->fingerprint()) << name;
    EXPECT_EQ(base->sha256().size(), 64u);
    const auto model = make_model(base->config(), DType::f32);
    base->copy_to(model->parameters());
    expect_same_weights(*filled, *model);
  }
}

TEST_F(BaseModelTest, WeightsThatAreNotFiniteAreRefusedByFileAndTensor) {
  const auto model = filled_model(small_llama(270));
  Parameters& parameters = model->parameters();
  parameters.value(parameters.find("token_embedding.weight")).as<float>()[5] =
      std::numeric_limits<float>::quiet_NaN();
  export_hf(exported(*model, *small_tokenizer()), folder_ / "nan");
  EXPECT_EQ(refusal_of([&] { BaseModel::open(folder_ / "nan"); }),
            fmt::format("{}/nan/model.safetensors: tensor 'model.embed_tokens.weight' holds NaN (1 of {} "
                        "elements): no training can begin from it; tril show names all such tensors",
                        folder_.path(), 270 * model->config().d_model));
  const ForeignModel foreign = open_foreign_model(folder_ / "nan");
  write_imported_run(folder_ / "nanrun", foreign, *load_foreign_model(foreign, DType::f32, INT64_MAX));
  EXPECT_THAT(refusal_of([&] { BaseModel::open(folder_ / "nanrun"); }),
              HasSubstr("model.safetensors: tensor 'token_embedding.weight' holds NaN (1 of"));
}

// Rows that stand for no token are left out; other parameters of the model stay as they are.
TEST_F(BaseModelTest, RowsWithoutATokenAreLeftOutAndAdaptersStay) {
  write_hf(folder_ / "padded", 288);
  const auto base = BaseModel::open(folder_ / "padded");
  ModelConfig config = base->config();
  ASSERT_EQ(config.vocab_size, 270);
  config.lora.rank = 2;
  const auto model = make_model(config, DType::f64);
  Parameters& p = model->parameters();
  const Tensor b = p.value(p.find("blocks.0.attention.W_Q.lora_B"));
  b.as<double>()[0] = 5;
  base->copy_to(p);
  EXPECT_EQ(b.at(0), 5);
  const auto filled = filled_model(small_llama(288));
  EXPECT_EQ(p.value(0).at(269 * 8 + 7), filled->parameters().value(0).at(269 * 8 + 7));
}

TEST_F(BaseModelTest, ItsSettingsAreTheRunsAndOthersAreRefusedByKey) {
  const auto base = BaseModel::open(folder_ / "hf");
  const Config config = gathered(*base, {"model.dropout=0.1", "model.d_model=8", "train.learning_rate=1e-3"});
  EXPECT_EQ(config.model.d_model, 8);
  EXPECT_EQ(config.model.layers, 2);
  EXPECT_EQ(config.model.dropout, 0.1);
  EXPECT_EQ(config.data.tokenizer, "bpe");
  EXPECT_EQ(config.train.from_sha256, base->sha256());
  EXPECT_EQ(config.train.block, 5);  // no longer than the context
  const std::string told = refusal_of([&] {
    gathered(*base,
             {"model.d_model=16", "model.activation=gelu", "data.tokenizer=char", "train.from_sha256=12"});
  });
  EXPECT_THAT(told, HasSubstr("model.d_model is 16, and " + base->path() + " has 8; leave it out"));
  EXPECT_THAT(told, HasSubstr("model.activation is \"gelu\", and " + base->path() + " has \"swiglu\""));
  EXPECT_THAT(told, HasSubstr("data.tokenizer is \"char\", and " + base->path() + " has \"bpe\""));
  EXPECT_THAT(told, HasSubstr("train.from_sha256 is \"12\""));
  EXPECT_THAT(refusal_of([&] { gathered(*base, {"data.vocabulary=500"}); }),
              HasSubstr("data.vocabulary has no effect"));
  Config other = config;
  other.train.from_sha256 = "0";
  EXPECT_THAT(refusal_of([&] { base->require_of(other); }), HasSubstr("the run was begun from 0"));
}

// What a source says is held to the key's range, as what a file says is.
TEST_F(BaseModelTest, AValueThatAKeyCanNotHaveIsAFaultOfItsSource) {
  ConfigBuilder builder;
  Config far;
  far.model.lora.alpha = 2e6;
  far.model.layers = 1001;
  far.model.norm = "batch";
  builder.fix("a/adapter_config.json", *find_key("lora", "alpha"), Value(far.model.lora.alpha));
  builder.fix("a", *find_key("model", "layers"), Value(far.model.layers));
  builder.fix("a", *find_key("model", "norm"), Value(far.model.norm));
  const std::string told = refusal_of([&] { builder.refuse_faults(); });
  EXPECT_THAT(told, HasSubstr("a/adapter_config.json: lora.alpha must be "));
  EXPECT_THAT(told, HasSubstr("a: model.layers must be 1 to 1,000, is 1,001"));
  EXPECT_THAT(told, HasSubstr("a: model.norm must be layer, rms or none"));
}

TEST_F(BaseModelTest, APartOfARunIsNotARun) {
  for (const char* part :
       {"/checkpoints", "/checkpoints/step-00000000", "/checkpoints/step-00000000/model.safetensors"})
    EXPECT_EQ(refusal_of([&] { BaseModel::open((folder_ / "run") + part); }),
              (folder_ / "run") + part +
                  ": is part of a run; give the run, whose best checkpoint is gone on from: --from " +
                  (folder_ / "run"));
}

TEST_F(BaseModelTest, AnAdapterBesideAModelIsNotApplied) {
  write_file_atomically(folder_ / "hf/adapter_config.json", "{}");
  testing::internal::CaptureStderr();
  const auto base = BaseModel::open(folder_ / "hf");
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("hf: the adapter beside the model (adapter_config.json) is not applied"));
  EXPECT_EQ(base->config().layers, 2);
  remove_path(folder_ / "hf/model.safetensors");
  EXPECT_THAT(refusal_of([&] { BaseModel::open(folder_ / "hf"); }),
              HasSubstr("is an adapter without its base model"));
}

TEST_F(BaseModelTest, WhatCanNotBeFineTunedIsRefused) {
  EXPECT_THAT(refusal_of([&] { BaseModel::open(folder_ / "none"); }), HasSubstr("there is no such run"));
  remove_path(folder_ / "hf/tokenizer.json");
  EXPECT_THAT(refusal_of([&] { BaseModel::open(folder_ / "hf"); }), HasSubstr("brings no tokenizer"));
  RunFolder window = RunFolder::create(folder_ / "window");
  train_run(window, small_run({"train.steps=1"}));
  EXPECT_EQ(refusal_of([&] { BaseModel::open(folder_ / "window"); }),
            (folder_ / "window") + ": is of the family window_attention; fine-tuning starts from a decoder");
}

}  // namespace
}  // namespace tril
