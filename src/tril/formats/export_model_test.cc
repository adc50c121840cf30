#include "tril/formats/export_model.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <set>

#include "tril/base/folder_testing.h"
#include "tril/base/interrupt.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/formats/npz.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

// The teaching notebook's names.
TEST(ExportModel, WindowModelsGoOutUnderTheNotebooksNames) {
  const TemporaryFolder folder;
  ModelConfig config;
  config.d_model = 4;
  config.hidden = 3;
  config.context = 2;
  config.vocab_size = 6;
  const auto model = filled_model(config);
  const WordTokenizer words({"a", "b"});
  export_safetensors(exported(*model, words), folder / "m.safetensors");
  const SafetensorsFile file(folder / "m.safetensors");
  std::set<std::string> names;
  for (const StoredTensor& tensor : file.tensors()) names.insert(tensor.name);
  EXPECT_EQ(names, (std::set<std::string>{"token_embedding.weight", "position_embedding.weight", "W_Q.weight",
                                          "W_K.weight", "W_V.weight", "W_O.weight", "hidden_layer.weight",
                                          "hidden_layer.bias", "vocab_head.weight", "vocab_head.bias"}));
  EXPECT_EQ(file.find("W_Q.weight")->shape, (std::vector<int64_t>{4, 4}));
  export_npz(exported(*model, words), folder / "m.npz");
  const NpzFile npz(folder / "m.npz");
  ASSERT_EQ(npz.tensors().size(), names.size());
  for (const StoredTensor& tensor : npz.tensors())
    EXPECT_EQ(tensor.bytes, file.find(tensor.name)->bytes) << tensor.name;
}

TEST(ExportModel, TheLayoutIsChosenByTheNorm) {
  EXPECT_EQ(hf_layout(small_gpt2(), ""), Layout::kHfGpt2);
  EXPECT_EQ(gguf_layout(small_llama(), ""), Layout::kGgufLlama);
  ModelConfig config = small_gpt2();
  config.norm = "none";
  EXPECT_NE(refusal_of([&] { hf_layout(config, "runs/x"); }).find("model.norm = \"none\" (it has layer)"),
            std::string::npos);
}

TEST(ExportModel, AnInterruptLeavesNothing) {
  const TemporaryFolder folder;
  const auto llama = filled_model(small_llama(270));
  ModelConfig config = small_gpt2(270);
  config.activation = "gelu";
  config.hidden = 16;
  const auto gpt = filled_model(config);
  const auto tokenizer = small_tokenizer();
  const ExportedModel model = exported(*llama, *tokenizer), nano = exported(*gpt, *tokenizer);
  const std::string path = folder / "m";
  const interrupt::Guard guard;
  ::raise(SIGINT);
  EXPECT_THROW(export_hf(model, path), Interrupted);
  EXPECT_THROW(export_gguf(model, path, "Q8_0"), Interrupted);
  EXPECT_THROW(export_safetensors(model, path), Interrupted);
  EXPECT_THROW(export_npz(model, path), Interrupted);
  EXPECT_THROW(export_llama2c(model, path), Interrupted);
  EXPECT_THROW(export_nanogpt(nano, path), Interrupted);
  interrupt::clear();
  EXPECT_TRUE(list_folder(folder.path()).empty());
}

TEST(ExportModel, TheSameModelGivesTheSameBytes) {
  const TemporaryFolder folder;
  const auto model = filled_model(small_llama(270));
  const auto tokenizer = small_tokenizer();
  for (const char* name : {"a", "b"}) {
    export_hf(exported(*model, *tokenizer), folder / name);
    export_gguf(exported(*model, *tokenizer), folder / name + "/m.gguf", "F16");
  }
  for (const std::string& file : list_folder(folder / "a"))
    EXPECT_EQ(read_file(folder / "a" + "/" + file), read_file(folder / "b" + "/" + file)) << file;
}

}  // namespace
}  // namespace tril
