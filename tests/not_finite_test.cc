// Weights that are no finite numbers, by the program itself: every target of export refuses them by the
// tensor's name, every reader of another program's model names the tensor, and training from it is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "program.h"
#include "tril/base/file.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/llama2c.h"
#include "tril/formats/nanogpt.h"
#include "tril/train/run_folder.h"

namespace tril {
namespace {

using testing::HasSubstr;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                kInfinity = std::numeric_limits<float>::infinity();

ModelConfig small_nanogpt() {
  ModelConfig m = small_gpt2(270);
  m.hidden = 16;
  m.activation = "gelu";
  return m;
}

void spoil(Model& model, const std::string& parameter, float value) {
  Parameters& parameters = model.parameters();
  parameters.value(parameters.find(parameter)).as<float>()[1] = value;
}

/// One number of a run's only checkpoint changed, as if training had left it so.
void spoil_run(const std::string& run, const std::string& parameter, float value) {
  const RunFolder folder = RunFolder::view(run);
  const std::string place = run + "/checkpoints/" + checkpoint_name(folder.steps().back());
  std::vector<std::string> bytes;
  Checkpoint changed;
  const std::string moved = run + "/before";
  {
    const LoadedCheckpoint old(place);
    changed.step = old.step(), changed.best_step = old.best_step(), changed.tokenizer = old.tokenizer();
    changed.state = old.state(), changed.settings = old.settings(), changed.source = old.source();
    changed.metrics = old.metrics();
    changed.model = old.model().tensors(), changed.optimizer = old.optimizer().tensors();
    for (StoredTensor& tensor : changed.model) {
      if (tensor.name != parameter) continue;
      std::string& copy = bytes.emplace_back(tensor.bytes);
      copy.replace(sizeof value, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
      tensor.bytes = copy;
    }
    move_path(place, moved);
    save_checkpoint(place, changed);
  }
  ASSERT_EQ(bytes.size(), 1u) << parameter;
  remove_path(moved);
}

class NotFinite : public testing::Test {
 protected:
  NotFinite() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the cat and the hat sat; that is the thing that they had then\n";
    write_file_atomically(folder_ / "t.txt", text);
    tokenizer_ = small_tokenizer();
    write_file_atomically(folder_ / "tokenizer.json", tokenizer_->to_json());
  }
  std::string imported(const std::string& path) const {
    const std::string run = path + "-run";
    const ProgramResult done = run_program({"import", path, "--out", run});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return run;
  }
  void expect_refused(const std::string& run, const std::vector<std::string>& to,
                      const std::string& told) const {
    std::vector<std::string> words = {"export", run, "--out", folder_ / "out", "--to"};
    words.insert(words.end(), to.begin(), to.end());
    const ProgramResult refused = run_program(words);
    EXPECT_EQ(refused.exit_code, 2) << to[0] << refused.out;
    EXPECT_THAT(refused.err, HasSubstr(told)) << to[0];
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out")) << to[0];
  }

  TemporaryFolder folder_;
  std::shared_ptr<const BpeTokenizer> tokenizer_;
};

TEST_F(NotFinite, WeightsAreWrittenAsNothing) {
  ModelConfig config = small_llama(270);
  config.context = 16;
  export_hf(exported(*filled_model(config), *tokenizer_), folder_ / "hf");
  export_nanogpt(exported(*filled_model(small_nanogpt()), *tokenizer_), folder_ / "nano.safetensors");
  const std::string llama = imported(folder_ / "hf"), nano = imported(folder_ / "nano.safetensors");
  const std::string lora = folder_ / "lora";
  const ProgramResult trained = run_program({"train", "--from", folder_ / "hf", "--data", folder_ / "t.txt",
                                             "--out", lora, "--steps", "1", "--set", "lora.rank=2"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  spoil_run(llama, "token_embedding.weight", kNaN);
  const std::string nan = llama + ": tensor 'token_embedding.weight' holds NaN (1 of 2160 elements)";
  for (const char* to : {"hf", "gguf", "safetensors", "npz", "llama2c"}) expect_refused(llama, {to}, nan);
  for (const char* type : {"f32", "f16", "q8_0"}) expect_refused(llama, {"gguf", "--type", type}, nan);
  spoil_run(nano, "blocks.1.mlp.up.bias", -kInfinity);
  const std::string infinite = nano + ": tensor 'blocks.1.mlp.up.bias' holds infinities (1 of 16 elements)";
  for (const char* to : {"nanogpt", "hf", "safetensors", "npz"}) expect_refused(nano, {to}, infinite);
  spoil_run(lora, "blocks.0.attention.W_V.lora_B", kInfinity);
  const std::string adapter = lora + ": tensor 'blocks.0.attention.W_V.lora_B' holds infinities (1 of 8 ";
  expect_refused(lora, {"peft"}, adapter);
  expect_refused(lora, {"hf", "--merge"}, lora + ": tensor 'blocks.0.attention.W_V.weight' holds ");
  expect_refused(lora, {"npz", "--merge"}, lora + ": tensor 'blocks.0.attention.W_V.weight' holds ");
}

TEST_F(NotFinite, WeightsOfAnotherProgramAreNamedAndNotTrainedFrom) {
  struct Case {
    std::string path, tensor;
  };
  for (const float value : {kNaN, kInfinity}) {
    const std::string what = std::isnan(value) ? "holds NaN (1 of " : "holds infinities (1 of ";
    const auto llama = filled_model(small_llama(270)), gpt = filled_model(small_nanogpt());
    spoil(*llama, "blocks.1.mlp.down.weight", value);
    spoil(*gpt, "position_embedding.weight", value);
    export_hf(exported(*llama, *tokenizer_), folder_ / "hf");
    export_gguf(exported(*llama, *tokenizer_), folder_ / "m.gguf", "F32");
    export_llama2c(exported(*llama, *tokenizer_), folder_ / "m.bin");
    export_nanogpt(exported(*gpt, *tokenizer_), folder_ / "m.safetensors");
    const std::vector<Case> cases = {
        {folder_ / "hf", folder_ / "hf/model.safetensors: tensor 'model.layers.1.mlp.down_proj.weight' "},
        {folder_ / "m.gguf", folder_ / "m.gguf: tensor 'blk.1.ffn_down.weight' "},
        {folder_ / "m.bin", folder_ / "m.bin: tensor 'blk.1.ffn_down.weight' "},
        {folder_ / "m.safetensors", folder_ / "m.safetensors: tensor 'transformer.wpe.weight' "}};
    for (const auto& [path, tensor] : cases) {
      const ProgramResult made = run_program({"import", path, "--out", folder_ / "run"});
      EXPECT_EQ(made.exit_code, 0) << made.err;
      EXPECT_THAT(made.err, HasSubstr("warning: " + tensor + what));
      remove_path(folder_ / "run");
      const ProgramResult refused =
          run_program({"train", "--from", path, "--data", folder_ / "t.txt", "--out", folder_ / "run"});
      EXPECT_EQ(refused.exit_code, 2) << path;
      EXPECT_THAT(refused.err, HasSubstr(tensor + what));
      EXPECT_FALSE(folder_exists(folder_ / "run"));
      const ProgramResult shown = run_program({"show", path});
      EXPECT_EQ(shown.exit_code, 0) << shown.err;
      EXPECT_THAT(shown.err, HasSubstr(what)) << path;
      remove_path(path);
    }
  }
}

}  // namespace
}  // namespace tril
