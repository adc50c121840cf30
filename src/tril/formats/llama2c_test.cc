#include "tril/formats/llama2c.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

class Llama2c : public testing::Test {
 protected:
  Llama2c() : tokenizer_(small_tokenizer()) {
    write_file_atomically(folder_ / "tokenizer.json", tokenizer_->to_json());
  }
  TemporaryFolder folder_;
  std::shared_ptr<const BpeTokenizer> tokenizer_;
};

TEST_F(Llama2c, ComesBackBitForBit) {
  for (const bool tied : {false, true}) {
    ModelConfig config = small_llama(270);
    config.tied = tied;
    const auto model = filled_model(config);
    const std::string path = folder_ / "m.bin";
    const Exported done = export_llama2c(exported(*model, *tokenizer_), path);
    const std::string bytes = read_file(path);
    EXPECT_EQ(done.bytes, bytes.size());
    int32_t header[7];
    std::memcpy(header, bytes.data(), sizeof header);
    EXPECT_EQ(std::vector<int32_t>(header, header + 7),
              (std::vector<int32_t>{8, 6, 2, 2, 1, tied ? 270 : -270, 5}));
    float first;
    std::memcpy(&first, bytes.data() + sizeof header, 4);
    EXPECT_EQ(first, model->parameters().value(0).as<float>()[0]);
    const ForeignModel foreign = open_foreign_model(path);
    EXPECT_EQ(foreign.tokenizer->fingerprint(), tokenizer_->fingerprint());  // beside it
    expect_same_weights(*model, *load_foreign_model(foreign, DType::f32, INT64_MAX));
  }
}

TEST_F(Llama2c, CutAndForeignFilesAreRefused) {
  const std::string path = folder_ / "m.bin";
  export_llama2c(exported(*filled_model(small_llama(270)), *tokenizer_), path);
  const std::string bytes = read_file(path);
  write_file_atomically(path, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(refusal_of([&] { open_foreign_model(path); }),
            path + ": its header asks for " + std::to_string(bytes.size()) + " bytes, the file has " +
                std::to_string(bytes.size() - 1) + ": it is cut, or no model of llama2.c");
  write_file_atomically(path, std::string(27, 'x'));
  EXPECT_EQ(refusal_of([&] { open_foreign_model(path); }),
            path + ": has 27 bytes; llama2.c's header alone has 28");
  write_file_atomically(path, "PK\3\4" + std::string(60, 'x'));
  EXPECT_NE(refusal_of([&] { open_foreign_model(path); }).find("it is no model of llama2.c, it looks like"),
            std::string::npos);
}

TEST_F(Llama2c, WhatRunCFixesIsNamed) {
  ModelConfig config = small_llama(270);
  config.rope_theta = 5e5;
  config.bias = true;
  EXPECT_EQ(
      refusal_of([&] { export_llama2c(exported(*filled_model(config), *tokenizer_), folder_ / "m.bin"); }),
      "runs/x: llama2.c can't compute this decoder: model.bias = true, model.rope_theta = 500000 (it has "
      "10000)");
  EXPECT_NE(refusal_of([&] {
              export_llama2c(exported(*filled_model(small_gpt2(270)), *tokenizer_), folder_ / "m.bin");
            }).find("this decoder has no counterpart in llama2.c: "),
            std::string::npos);
}

}  // namespace
}  // namespace tril
