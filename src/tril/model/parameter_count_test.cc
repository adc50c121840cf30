#include "tril/model/parameter_count.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "tril/train/config.h"

namespace tril {
namespace {

int64_t count(const std::string& preset) {
  ModelConfig model = preset_config(preset).model;
  model.vocab_size = nominal_vocabulary(preset);
  return parameter_count(model);
}

TEST(ParameterCount, OfEachPreset) {
  const std::map<std::string, int64_t> by_hand = {
      // E 1500·48 + P 12·48 + W_Q, W_K, W_V, W_O 4·48² + hidden 48·160 + 160 + head 160·1500 + 1500
      {"one-head-smoke", 72000 + 576 + 9216 + 7840 + 241500},  // 331,132
      // the same with V = 3000
      {"one-head-classroom", 144000 + 576 + 9216 + 7840 + 483000},
      // E 1500·32 + hidden (8·32)·128 + 128 + head 128·1500 + 1500
      {"window-mlp", 48000 + 32896 + 193500},
      // E 4000·64 + hidden (64·64)·256 + 256 + head 256·4000 + 4000
      {"window-mlp-64", 256000 + 1048832 + 1028000},
      // E 4000·64 + P 64·64 + 4·64² + hidden 64·256 + 256 + head 256·4000 + 4000
      {"one-head-64", 256000 + 4096 + 16384 + 16640 + 1028000},
      {"four-heads-64", 256000 + 4096 + 16384 + 16640 + 1028000},
      // E 3·16; a block: 4·16² + 16·32 + 32 + 32·16 + 16 + two norms of 16 gains and 16 biases; head 16·3 + 3
      {"tiny-gpt-abc", 48 + 2 * (1024 + 544 + 528 + 64) + 51},
      // wte 27·16 + wpe 16·16 + lm_head 27·16 + wq, wk, wv, wo 4·16² + fc1, fc2 2·16·64
      {"microgpt", 4192},
      {"microgpt-16", 432 + 256 + 432 + 1024 + 2048},
      // E 65·128 (tied) + P 64·128 + 4 blocks of 4·128² + 2·128·512 + 2·128 + final norm 128
      {"shakespeare-char", 8320 + 8192 + 4 * (65536 + 131072 + 256) + 128},
      // E 65·384 + P 256·384 + 6 blocks of 4·384² + 2·384·1536 + 2·384 + 384
      {"shakespeare-char-6", 24960 + 98304 + 6 * (589824 + 1179648 + 768) + 384},
      // E 27·64 + P 16·64 + 2 blocks of 4·64² + 2·64·256 + 2·64 + 64
      {"names-char", 1728 + 1024 + 2 * (16384 + 32768 + 128) + 64},
      // E 2048·128 + P 128·128 + 4 blocks as in shakespeare-char + 128
      {"tales-bpe", 262144 + 16384 + 4 * (65536 + 131072 + 256) + 128},
      // E 32000·288 (tied) + 6 blocks of 4·288² + 3·288·768 + 2·288 + 288
      {"llama-tiny", 9216000 + 6 * (331776 + 663552 + 576) + 288},
      // as published: E 50257·768 + P 1024·768 + 12 blocks of 4·(768² + 768) + 2·768·3072 + 3072 + 768 +
      // 4·768 + 2·768
      {"gpt2-124m", 124439808},
  };
  EXPECT_EQ(by_hand.at("one-head-smoke"), 331132);
  EXPECT_EQ(by_hand.size(), preset_names().size());
  for (const std::string& name : preset_names()) EXPECT_EQ(count(name), by_hand.at(name)) << name;
}

TEST(ParameterCount, SharedKeyHeadsAndBiases) {
  ModelConfig model = preset_config("llama-tiny").model;
  model.vocab_size = 100;
  model.kv_heads = 2;
  // E 100·288; W_Q, W_O 2·288²; W_K, W_V 2·288·(2·48); feed-forward and norms as above
  EXPECT_EQ(parameter_count(model), 28800 + 6 * (165888 + 55296 + 663552 + 576) + 288);
  model.attention_bias = true;  // 288 + 96 + 96 + 288
  model.bias = true;            // two inner layers of 768, one of 288; RMS norms have none
  EXPECT_EQ(parameter_count(model), 28800 + 6 * (165888 + 55296 + 768 + 663552 + 1824 + 576) + 288);
}

TEST(ParameterCount, HugeCountsStayAtTheLargestNumber) {
  ModelConfig model;
  model.family = "decoder";
  model.d_model = model.hidden = int64_t{1} << 40;
  model.vocab_size = 10;
  EXPECT_EQ(parameter_count(model), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace tril
