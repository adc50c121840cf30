#include "tril/formats/weight_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

void number(Parameters& parameters) {
  float next = 1;
  for (int i = 0; i < parameters.size(); ++i)
    for (float& value : parameters.value(i).span<float>()) value = next++;
}

const LayoutTensor& find(const std::vector<LayoutTensor>& all, const std::string& name) {
  for (const LayoutTensor& tensor : all)
    if (tensor.name == name) return tensor;
  throw std::runtime_error("no " + name);
}

std::vector<float> gathered(const LayoutTensor& tensor, const Parameters& parameters) {
  std::vector<float> out(static_cast<size_t>(tensor.rows() * tensor.columns()), -1);
  gather(tensor, parameters, out);
  return out;
}

// Everything goes out and comes back: each parameter is in exactly one tensor of each layout.
TEST(WeightLayout, GoesOutAndComesBack) {
  const std::pair<Layout, ModelConfig> cases[] = {{Layout::kHfGpt2, small_gpt2()},
                                                  {Layout::kGgufGpt2, small_gpt2()},
                                                  {Layout::kNanoGpt, small_gpt2()},
                                                  {Layout::kHfLlama, small_llama()},
                                                  {Layout::kGgufLlama, small_llama()}};
  for (auto [layout, config] : cases) {
    for (const bool tied : {false, true}) {
      config.tied = tied;
      const auto from = make_model(config, DType::f32), to = make_model(config, DType::f32);
      number(from->parameters());
      for (const LayoutTensor& tensor : layout_tensors(config, layout))
        scatter(tensor, gathered(tensor, from->parameters()), to->parameters());
      for (int i = 0; i < from->parameters().size(); ++i) {
        const auto a = from->parameters().value(i).span<float>(), b = to->parameters().value(i).span<float>();
        EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin()))
            << name_of(layout) << " " << from->parameters().info(i).name;
      }
    }
  }
}

// Conv1D: y = x W with W [in, out], so W is (W_Q; W_K; W_V) with rows and columns exchanged.
TEST(WeightLayout, Gpt2sQkvIsTransposedAndStacked) {
  const ModelConfig config = small_gpt2();
  const auto model = make_model(config, DType::f32);
  number(model->parameters());
  const auto tensors = layout_tensors(config, Layout::kHfGpt2);
  const LayoutTensor& qkv = find(tensors, "transformer.h.1.attn.c_attn.weight");
  EXPECT_EQ(qkv.shape, (std::vector<int64_t>{4, 12}));
  const std::vector<float> out = gathered(qkv, model->parameters());
  const Parameters& p = model->parameters();
  const float* const q = p.value(p.find("blocks.1.attention.W_Q.weight")).as<float>();
  const float* const v = p.value(p.find("blocks.1.attention.W_V.weight")).as<float>();
  EXPECT_EQ(out[0 * 12 + 1], q[1 * 4 + 0]);
  EXPECT_EQ(out[2 * 12 + 3], q[3 * 4 + 2]);
  EXPECT_EQ(out[3 * 12 + 8], v[0 * 4 + 3]);
}

// A head of 4 rows, halves (0 1 | 2 3), lies as pairs (0 2)(1 3) in GGUF; kv_heads count for K.
TEST(WeightLayout, GgufsQueriesLieInPairs) {
  const ModelConfig config = small_llama();
  const auto model = make_model(config, DType::f32);
  number(model->parameters());
  const auto tensors = layout_tensors(config, Layout::kGgufLlama);
  const LayoutTensor& q = find(tensors, "blk.0.attn_q.weight");
  const std::vector<float> out = gathered(q, model->parameters());
  const Parameters& p = model->parameters();
  const float* const w = p.value(p.find("blocks.0.attention.W_Q.weight")).as<float>();
  const int rows[] = {0, 2, 1, 3, 4, 6, 5, 7};
  for (int r = 0; r < 8; ++r) EXPECT_EQ(out[static_cast<size_t>(r) * 8], w[rows[r] * 8]) << r;
  EXPECT_EQ(find(tensors, "blk.0.attn_k.weight").heads, 1);
  EXPECT_EQ(find(tensors, "blk.0.attn_v.weight").order, LayoutTensor::RowOrder::kSame);
}

TEST(WeightLayout, InterleavedModelsAreHalvedForHuggingFace) {
  ModelConfig config = small_llama();
  config.rope_pairing = "interleaved";
  EXPECT_EQ(find(layout_tensors(config, Layout::kHfLlama), "model.layers.0.self_attn.q_proj.weight").order,
            LayoutTensor::RowOrder::kHalve);
  EXPECT_EQ(find(layout_tensors(config, Layout::kGgufLlama), "blk.0.attn_q.weight").order,
            LayoutTensor::RowOrder::kSame);
}

// What the model lacks and the layout has is a constant that changes nothing: biases of 0, gains of 1.
TEST(WeightLayout, MissingBiasesAreZerosAndMissingGainsOnes) {
  ModelConfig config = small_gpt2();
  config.bias = config.attention_bias = config.norm_gain = false;
  const auto model = make_model(config, DType::f32);
  number(model->parameters());
  const auto tensors = layout_tensors(config, Layout::kHfGpt2);
  const auto all = [&](const char* name) { return gathered(find(tensors, name), model->parameters()); };
  EXPECT_EQ(all("transformer.h.0.attn.c_attn.bias"), std::vector<float>(12, 0));
  EXPECT_EQ(all("transformer.h.0.mlp.c_fc.bias"), std::vector<float>(6, 0));
  EXPECT_EQ(all("transformer.ln_f.weight"), std::vector<float>(4, 1));
  EXPECT_EQ(all("transformer.ln_f.bias"), std::vector<float>(4, 0));
  // nanoGPT has no biases where the model has none
  for (const LayoutTensor& tensor : layout_tensors(config, Layout::kNanoGpt))
    EXPECT_FALSE(tensor.name.ends_with(".bias")) << tensor.name;
}

}  // namespace
}  // namespace tril
