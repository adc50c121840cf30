#include <gtest/gtest.h>

#include "tril/base/error.h"
#include "tril/train/config.h"

namespace tril {
namespace {

// The settings of the published programs that a table in the documentation promises.
TEST(Presets, Settings) {
  const Config micro = preset_config("microgpt-16");
  EXPECT_EQ(micro.train.batch, 16);
  EXPECT_EQ(micro.run.engine, "fast");
  EXPECT_EQ(micro.train.seed, 42);
  EXPECT_EQ(micro.train.beta1, 0.85);
  EXPECT_EQ(preset_config("one-head-64").train.seed, 11);
  EXPECT_EQ(preset_config("gpt2-124m").train.seed, 0);
  EXPECT_EQ(preset_config("shakespeare-char-6").model.dropout, 0.2);
}

Config with_recipe(const std::string& preset, std::vector<std::string> settings = {}) {
  ConfigBuilder builder;
  builder.add_preset(preset);
  builder.set("train.recipe=modern");
  for (const std::string& setting : settings) builder.set(setting);
  return builder.finish();
}

TEST(Recipes, StandOverThePresetAndUnderTheUser) {
  const Config plain = preset_config("shakespeare-char"), modern = with_recipe("shakespeare-char");
  EXPECT_EQ(plain.model.position, "learned");
  EXPECT_EQ(modern.model.position, "rotary");
  EXPECT_EQ(modern.train.recipe, "modern");
  EXPECT_EQ(modern.model.d_model, plain.model.d_model);  // a recipe leaves the size and the data alone
  EXPECT_EQ(modern.train.batch, plain.train.batch);
  EXPECT_EQ(modern.data.split, plain.data.split);
  EXPECT_EQ(with_recipe("shakespeare-char", {"model.position=learned"}).model.position, "learned");
}

TEST(Recipes, ARunsOwnSettingsAreNotTouchedAgain) {
  const Config modern = with_recipe("shakespeare-char", {"model.position=learned"});
  ConfigBuilder builder;
  builder.add_toml(config_to_toml(modern), "config.toml");
  EXPECT_EQ(config_to_toml(builder.finish()), config_to_toml(modern));
}

TEST(Recipes, AreTheOnesThatTheKeyAllows) {
  std::vector<std::string> allowed = find_key("train", "recipe")->choices;
  EXPECT_EQ(allowed.front(), "none");
  allowed.erase(allowed.begin());
  EXPECT_EQ(allowed, recipe_names());
  EXPECT_THROW(recipe_text("antique"), Refusal);
}

TEST(Recipes, NeedTheDecoder) {
  try {
    with_recipe("one-head-smoke");
    FAIL() << "accepted";
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "--set train.recipe=modern: train.recipe has no effect without model.family decoder");
  }
}

}  // namespace
}  // namespace tril
