#include "tril/train/frozen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tril/formats/foreign_testing.h"

namespace tril {
namespace {

using testing::HasSubstr;

struct Frozen {
  Config config;
  std::unique_ptr<Model> model;
  explicit Frozen(const std::string& patterns, int64_t rank = 0) {
    config.model = small_llama();
    config.model.layers = 11;
    config.model.lora.rank = rank;
    config.train.freeze = patterns;
    model = make_model(config.model, DType::f32);
    freeze(model->parameters(), config);
  }
  bool operator[](const char* name) const {
    return model->parameters().info(model->parameters().find(name)).frozen;
  }
};

TEST(Freeze, APatternIsHowNamesBegin) {
  EXPECT_TRUE(freezes("token_embedding", "token_embedding.weight"));
  EXPECT_TRUE(freezes("W_", "W_Q.weight"));
  EXPECT_TRUE(freezes("blocks.1", "blocks.1.mlp.up.weight"));
  EXPECT_FALSE(freezes("blocks.1", "blocks.10.mlp.up.weight"));
  EXPECT_TRUE(freezes("blocks.*.attention", "blocks.10.attention.W_Q.weight"));
  EXPECT_TRUE(freezes("blocks.*.attention", "blocks.3.attention_norm.weight"));
  EXPECT_FALSE(freezes("blocks.*.attention.", "blocks.3.attention_norm.weight"));
  EXPECT_FALSE(freezes("*.attention", "blocks.3.attention.W_Q.weight"));  // * does not cross a dot
  EXPECT_FALSE(freezes("blocks.*.mlp", "blocks.3.attention.W_Q.weight"));
}

// With 60 stars a search that tries every share of the name for each would not come to its end.
TEST(Freeze, ManyStarsTakeNoLonger) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*e";
  EXPECT_FALSE(freezes(stars + "x", std::string(200, 'e')));
  EXPECT_TRUE(freezes(stars, std::string(200, 'e')));
  EXPECT_FALSE(freezes(std::string(60, '*') + "x", "token_embedding.weight"));
  EXPECT_TRUE(freezes("*a*b", "aacb"));
  EXPECT_FALSE(freezes("*a*b", "a.b"));
  EXPECT_TRUE(freezes("a*b*.d", "abcb.d"));
  EXPECT_TRUE(freezes("*1", "11"));  // a number's end is found behind the first digit that fits
  EXPECT_FALSE(freezes("b*1", "b12"));
  EXPECT_TRUE(freezes("", "any"));
}

TEST(Freeze, BlanksAroundAPatternAreNoneOfIt) {
  const Frozen f(" token_embedding , blocks.1");
  EXPECT_TRUE(f["token_embedding.weight"]);
  EXPECT_TRUE(f["blocks.1.mlp.up.weight"]);
}

TEST(Freeze, MarksAndCounts) {
  const Frozen f("token_embedding,blocks.*.attention.,blocks.1");
  EXPECT_TRUE(f["token_embedding.weight"]);
  EXPECT_TRUE(f["blocks.10.attention.W_O.weight"]);
  EXPECT_FALSE(f["blocks.10.mlp.up.weight"]);
  EXPECT_TRUE(f["blocks.1.mlp.up.weight"]);
  EXPECT_FALSE(f["head.weight"]);
  // Ten blocks' two norms of 8 and three feed-forward matrices of 8 · 6, the last norm, and the head of 7
  // · 8.
  EXPECT_EQ(trained_count(f.model->parameters()), 10 * (2 * 8 + 3 * 8 * 6) + 8 + 7 * 8);
  EXPECT_EQ(trained_share(200000, 1000), "200,000 parameters, 1,000 of them trained (0.50%)");
  EXPECT_EQ(trained_share(200, 200), "200 parameters");
}

TEST(Freeze, BesideAdaptersAllElseIsFrozen) {
  const Frozen f("", 2);
  EXPECT_TRUE(f["blocks.0.attention.W_Q.weight"]);
  EXPECT_FALSE(f["blocks.0.attention.W_Q.lora_A"]);
  const Frozen some("blocks.0", 2);
  EXPECT_TRUE(some["blocks.0.attention.W_Q.lora_A"]);
  EXPECT_FALSE(some["blocks.1.attention.W_Q.lora_A"]);
}

TEST(Freeze, RefusesWhatNamesNothingAndWhatLeavesNothing) {
  EXPECT_THAT(
      refusal_of([] { Frozen("token_embeding.weight"); }),
      HasSubstr("train.freeze: no parameter's name begins with 'token_embeding.weight'; the nearest is "
                "'token_embedding.weight'"));
  EXPECT_THAT(refusal_of([] { Frozen("vocab_head"); }), HasSubstr("; the nearest is 'head.weight'"));
  Config tied;
  tied.model = small_llama();
  tied.model.tied = true;
  tied.train.freeze = "vocab_head";
  const auto model = make_model(tied.model, DType::f32);
  EXPECT_THAT(refusal_of([&] { freeze(model->parameters(), tied); }),
              HasSubstr("its head is the token embedding (model.tied): 'token_embedding'"));
  EXPECT_EQ(
      refusal_of([] { Frozen("token,blocks,final_norm,head"); }),
      "train.freeze 'token,blocks,final_norm,head': freezes every parameter, so there is nothing to train");
}

}  // namespace
}  // namespace tril
