#include "tril/formats/gguf_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tril/base/folder_testing.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/gguf_tokenizer.h"

namespace tril {
namespace {

// A file with the keys of a small Llama, less those in `without`, with those that `more` adds.
template <class More>
std::string file_with(const TemporaryFolder& folder, const More& more,
                      const std::string& architecture = "llama", int heads = 2) {
  GgufWriter writer;
  writer.text("general.architecture", architecture);
  more(writer);
  for (const auto& [key, value] : {std::pair{"embedding_length", 8},
                                   {"attention.head_count", heads},
                                   {"block_count", 1},
                                   {"context_length", 4},
                                   {"feed_forward_length", 6}})
    writer.u32(architecture + "." + key, static_cast<uint32_t>(value));
  writer.f32(architecture + (architecture == "llama" ? ".attention.layer_norm_rms_epsilon"
                                                     : ".attention.layer_norm_epsilon"),
             1e-5F);
  writer.tensor("token_embd.weight", {7, 8}, *find_ggml_type("F32"));
  const std::string path = folder / "m.gguf";
  write_file_atomically(path, [&](FileWriter& file) {
    writer.write(file, [](size_t, std::span<float> out) { std::fill(out.begin(), out.end(), 0.5F); });
  });
  return path;
}

std::string refusal_with(const std::function<void(GgufWriter&)>& more,
                         const std::string& architecture = "llama", int heads = 2) {
  const TemporaryFolder folder;
  const std::string path = file_with(folder, more, architecture, heads);
  Layout layout{};
  const std::string told = refusal_of([&] { gguf_config(GgufFile(path), layout); });
  return told.empty() ? told : told.substr(path.size() + 2);
}

TEST(GgufModel, ReadsTheKeysOfALlama) {
  const TemporaryFolder folder;
  Layout layout{};
  const ModelConfig m = gguf_config(
      GgufFile(file_with(folder, [](GgufWriter& w) { w.u32("llama.attention.head_count_kv", 1); })), layout);
  EXPECT_EQ(layout, Layout::kGgufLlama);
  EXPECT_EQ(m.kv_heads, 1);
  EXPECT_EQ(m.d_k, 8);
  EXPECT_EQ(m.rope_theta, 10000);
  EXPECT_EQ(m.vocab_size, 7);
  EXPECT_TRUE(m.tied);  // no output.weight
  EXPECT_FALSE(m.bias || m.attention_bias);
}

TEST(GgufModel, RefusesByKeyAndValue) {
  using W = GgufWriter;
  EXPECT_EQ(refusal_with([](W& w) { w.text("llama.rope.scaling.type", "yarn"); }),
            "llama.rope.scaling.type is 'yarn'; tril has only none");
  EXPECT_EQ(refusal_with([](W& w) { w.u32("llama.expert_count", 8); }),
            "the key llama.expert_count = 8 is not one that tril computes");
  EXPECT_EQ(refusal_with([](W& w) { w.u32("llama.attention.head_count_kv", 3); }),
            "llama.attention.head_count 2 is not divisible by head_count_kv 3");
  EXPECT_EQ(refusal_with([](W& w) { w.u32("llama.rope.dimension_count", 2); }),
            "llama.rope.dimension_count is 2; tril turns all 4 columns of a head");
  EXPECT_EQ(refusal_with([](W& w) { w.f32("llama.rope.freq_base", NAN); }),
            "llama.rope.freq_base is nan; a finite real number above 0 is needed");
  EXPECT_EQ(refusal_with([](W& w) { w.text("llama.attention.head_count_kv", "two"); }),
            "llama.attention.head_count_kv is 'two'; an integer of 1 to 4096 is needed");
  EXPECT_EQ(refusal_with([](W& w) { w.u32("llama.vocab_size", 9); }),
            "llama.vocab_size is not 7, the rows of token_embd.weight");
  EXPECT_EQ(refusal_with([](W& w) { w.u32("mamba.x", 1); }, "mamba"),
            "general.architecture is 'mamba'; tril reads llama and gpt2");
  EXPECT_EQ(refusal_with([](W&) {}, "gpt2"), "");
}

TEST(GgufModel, OnlyALlamasHeadsMayHaveAWidthOfTheirOwn) {
  using W = GgufWriter;
  const auto width = [](const char* key, uint32_t size) { return [=](W& w) { w.u32(key, size); }; };
  EXPECT_EQ(refusal_with(width("llama.attention.key_length", 6), "llama", 3), "");
  EXPECT_EQ(refusal_with([](W&) {}, "llama", 3),
            "llama.embedding_length 8 is not divisible by llama.attention.head_count 3");
  for (const char* key : {"llama.attention.key_length", "gpt2.attention.key_length"})
    EXPECT_EQ(refusal_with(width(key, 6), "gpt2", 3),
              "gpt2.embedding_length 8 is not divisible by gpt2.attention.head_count 3");
  EXPECT_EQ(refusal_with(width("llama.attention.key_length", 65536)),
            "llama.attention.key_length 65536 times 2 heads is above 65536");
}

class GgufModels : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

// F32 goes out and comes back bit for bit, rotary rows and all; F16 and Q8_0 within their steps.
TEST_F(GgufModels, ComeBack) {
  const auto tokenizer = small_tokenizer();
  for (ModelConfig config : {small_gpt2(270), small_llama(270)}) {
    for (const bool tied : {false, true}) {
      config.tied = tied;
      const auto model = filled_model(config);
      const std::string path = folder_ / "m.gguf";
      export_gguf(exported(*model, *tokenizer), path, "F32");
      const ForeignModel foreign = open_foreign_model(path);
      EXPECT_EQ(foreign.ends.ends, (std::vector<int32_t>{269}));
      expect_same_weights(*model, *load_foreign_model(foreign, DType::f32, INT64_MAX));
    }
  }
  ModelConfig config = small_llama(270);
  config.d_model = config.hidden = 32;
  const auto model = filled_model(config);
  for (const auto& [type, step] : {std::pair{"F16", 0x1p-11}, {"Q8_0", 1.0 / 254 + 1e-3}}) {
    export_gguf(exported(*model, *tokenizer), folder_ / "m.gguf", type);
    const ForeignModel foreign = open_foreign_model(folder_ / "m.gguf");
    EXPECT_EQ(foreign.tensors.find("blk.0.attn_q.weight")->type, type);
    EXPECT_EQ(foreign.tensors.find("blk.0.attn_norm.weight")->type, "F32");
    const auto back = load_foreign_model(foreign, DType::f32, INT64_MAX);
    const auto a = model->parameters().flat_values().span<float>(),
               b = back->parameters().flat_values().span<float>();
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], step) << i;
  }
}

TEST_F(GgufModels, NumbersThatDoNotFitAreRefused) {
  ModelConfig config = small_gpt2(270);
  const auto model = filled_model(config);
  model->parameters().value(model->parameters().find("blocks.0.mlp.up.weight")).as<float>()[3] = 1e6F;
  EXPECT_EQ(refusal_of([&] { export_gguf(exported(*model, *small_tokenizer()), folder_ / "m.gguf", "F16"); }),
            "runs/x: 'blk.0.ffn_up.weight' holds 1000000, which F16 can't hold; export it with --type f32");
  EXPECT_TRUE(list_folder(folder_.path()).empty());
}

TEST_F(GgufModels, QuantisedTypesThatCanNotBeReadAreNamed) {
  EXPECT_EQ(refusal_of([&] {
              refuse_unreadable({"w", find_ggml_type("Q4_K"), {256}, {}}, "m.gguf");
            }),
            "m.gguf: tensor 'w' is of type Q4_K, whose values tril doesn't read; convert the file to F16, "
            "Q8_0, Q4_0 or "
            "Q4_1");
}

}  // namespace
}  // namespace tril
