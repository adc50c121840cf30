#include "tril/train/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "tril/base/error.h"
#include "tril/base/file.h"

namespace tril {
namespace {

std::string faults_of(std::string_view toml, std::vector<std::string> settings = {}) {
  try {
    ConfigBuilder builder;
    builder.add_toml(toml, "t.toml");
    for (const std::string& setting : settings) builder.set(setting);
    builder.finish();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

Config config_of(std::string_view toml) {
  ConfigBuilder builder;
  builder.add_toml(toml, "t.toml");
  return builder.finish();
}

// Case 42: every fault at once, with key, line and nearest name.
TEST(Config, UnknownKeysAreAllNamedWithLineAndNearest) {
  EXPECT_EQ(faults_of("[model]\nlayers = 2\nd_model = 32\nheads_ = 2\nactvation = "
                      "\"relu\"\n[modle]\n[train]\nsteps_ = 1\n"),
            "t.toml: model.layers has no effect in window_attention (line 2)\n"
            "t.toml: model.heads_ is no setting; the nearest is 'heads' (line 4)\n"
            "t.toml: model.actvation is no setting; the nearest is 'activation' (line 5)\n"
            "t.toml: [modle] is no section; the nearest is 'model' (line 6)\n"
            "t.toml: train.steps_ is no setting; the nearest is 'steps' (line 8)");
}

TEST(Config, AKeyInTheWrongPlaceIsToldWhereItBelongs) {
  EXPECT_EQ(faults_of("steps = 3\n[model]\nbatch = 4\n"),
            "t.toml: steps is no setting outside a section; it belongs to [train] (line 1)\n"
            "t.toml: model.batch is no setting; it belongs to [train] (line 3)");
  EXPECT_EQ(faults_of("model = 3\n"), "t.toml: model must be a section, [model], is an integer (line 1)");
}

TEST(Config, WrongTypes) {
  EXPECT_EQ(faults_of("[model]\nlayers = \"two\"\ncontext = 1.5\ntied = 1\nfamily = true\n[train]\nclip = "
                      "[1]\nbatch = {}\n"
                      "learning_rate = 1979-05-27\n"),
            "t.toml: model.layers must be an integer, is a string (line 2)\n"
            "t.toml: model.context must be an integer, is a real number (line 3)\n"
            "t.toml: model.tied must be true or false, is an integer (line 4)\n"
            "t.toml: model.family must be a string, is a boolean (line 5)\n"
            "t.toml: train.clip must be a real number, is an array (line 7)\n"
            "t.toml: train.batch must be an integer, is a table (line 8)\n"
            "t.toml: train.learning_rate must be a real number, is a date or time (line 9)");
}

TEST(Config, ValuesOutOfRange) {
  EXPECT_EQ(
      faults_of("[model]\nlayers = 0\nheads = -1\ncontext = 99999999999\nfamily = \"decodr\"\ndropout = 1.0\n"
                "norm_epsilon = 0\n[train]\nlearning_rate = nan\nweight_decay = inf\nclip = -inf\n"),
      "t.toml: model.layers must be 1 to 1,000, is 0 (line 2)\n"
      "t.toml: model.heads must be 1 to 4,096, is -1 (line 3)\n"
      "t.toml: model.context must be 1 to 1,048,576, is 99,999,999,999 (line 4)\n"
      "t.toml: model.family must be window_mlp, window_attention or decoder, is 'decodr'; the nearest is "
      "'decoder' (line 5)\n"
      "t.toml: model.dropout must be 0 or more, below 1, is 1 (line 6)\n"
      "t.toml: model.norm_epsilon must be above 0, at most 1, is 0 (line 7)\n"
      "t.toml: train.learning_rate must be a finite number, is nan (line 9)\n"
      "t.toml: train.weight_decay must be a finite number, is inf (line 10)\n"
      "t.toml: train.clip must be a finite number, is -inf (line 11)");
}

TEST(Config, AnIntegerWillDoForARealNumber) {
  EXPECT_EQ(config_of("[train]\nlearning_rate = 1\n").train.learning_rate, 1.0);
}

TEST(Config, SyntaxFaultsHaveLineAndColumn) {
  EXPECT_TRUE(faults_of("[train\nlearning_rate = = 1\n").starts_with("t.toml: line 1, column 7: "));
  EXPECT_TRUE(faults_of("[train]\nlearning_rate = = 1\n").starts_with("t.toml: line 2, column 17: "));
  EXPECT_TRUE(
      faults_of(std::string_view("[train]\nsteps = 1\0", 18)).starts_with("t.toml: line 2, column 10: "));
}

// What is divided by must not become 0 in the run's precision.
TEST(Config, DivisorsAreNotTooSmallForTheirPrecision) {
  EXPECT_EQ(
      faults_of(
          "preset = \"llama-tiny\"\n[model]\nsoftcap = 1e-300\nnorm_epsilon = 1e-45\n[train]\nepsilon = "
          "1e-39\n"),
      "t.toml: model.softcap 1e-300 is too small for single precision; at least 1.2e-38 (line 3)\n"
      "t.toml: model.norm_epsilon 1e-45 is too small for single precision; at least 1.2e-38 (line 4)\n"
      "t.toml: train.epsilon 1e-39 is too small for single precision; at least 1.2e-38 (line 6)");
  EXPECT_EQ(faults_of("preset = \"microgpt\"\n[train]\nepsilon = 1e-300\n"), "");  // in double it is
}

TEST(Config, ByteOrderMarks) {
  EXPECT_EQ(config_of("\xEF\xBB\xBF[train]\nlearning_rate = 0.001\n").train.learning_rate, 0.001);
  EXPECT_EQ(faults_of(std::string_view("\xFF\xFE[\0t\0", 6)),
            "t.toml: UTF-16 text; a configuration is UTF-8");
}

TEST(Config, CrossChecksSayWhereTheUserSaidIt) {
  EXPECT_EQ(faults_of("[model]\nfamily = \"decoder\"\nposition = \"rotary\"\nd_model = 15\nheads = 5\n"),
            "t.toml: rotary positions need an even head size; d_k 15 / heads 5 is 3 (line 3)");
  EXPECT_EQ(faults_of("preset = \"four-heads-64\"\n[model]\nd_model = 50\n[train]\nwarmup = 7000\n"),
            "t.toml: model.d_model 50 is not divisible by model.heads 4 (line 3)\n"
            "t.toml: train.warmup 7000 is longer than train.steps 6000 (line 5)");
  EXPECT_EQ(faults_of("preset = \"llama-tiny\"\n[model]\nkv_heads = 4\n[run]\ndtype = \"f64\"\n",
                      {"train.block=300"}),
            "t.toml: model.heads 6 is not divisible by model.kv_heads 4 (line 3)\n"
            "t.toml: run.dtype f64 needs run.engine reference, not fast (line 5)\n"
            "--set train.block=300: train.block 300 is longer than model.context 256");
}

// Only a width that is left to its default is d_model's.
TEST(Config, HeadsDivideTheirOwnWidths) {
  const std::string model = "[model]\nfamily = \"decoder\"\nd_model = 15\nheads = 4\n";
  EXPECT_EQ(config_of(model + "d_k = 12\nd_v = 8\n").model.d_k, 12);
  EXPECT_EQ(faults_of(model + "d_k = 12\n"),
            "t.toml: model.d_model 15 is not divisible by model.heads 4 (line 4)");
  EXPECT_EQ(faults_of(model + "d_k = 12\nd_v = 9\n"),
            "t.toml: model.d_v 9 is not divisible by model.heads 4 (line 6)");
}

TEST(Config, SettingsOfTheCommandLine) {
  EXPECT_EQ(
      faults_of("", {"train.learning_rat=1", "steps=5", "train.steps=1e3", "model.tied=yes", "train.clip=nan",
                     "train.learning_rate=0,5", "model.heads", "train.batch=0"}),
      "--set train.learning_rat=1: train.learning_rat is no setting; the nearest is 'train.learning_rate'\n"
      "--set steps=5: steps is no setting; it is train.steps\n"
      "--set train.steps=1e3: train.steps must be an integer, is '1e3'\n"
      "--set model.tied=yes: model.tied must be true or false, is 'yes'\n"
      "--set train.clip=nan: train.clip must be a real number, is 'nan'\n"
      "--set train.learning_rate=0,5: train.learning_rate must be a real number, is '0,5'\n"
      "--set model.heads: must be section.key=value\n"
      "--set train.batch=0: train.batch must be 1 to 1,048,576, is 0");
  ConfigBuilder builder;
  builder.add_preset("one-head-smoke");
  builder.set("data.text=\"a = b\"");
  builder.set_flag("--steps", "train.steps", "9");
  EXPECT_EQ(builder.finish().data.text, "a = b");
  EXPECT_EQ(builder.values().train.steps, 9);
}

TEST(Config, AKeyThatIsGivenTwiceIsRefusedWithBothPlaces) {
  EXPECT_EQ(faults_of("[train]\nsteps = 5\n", {"train.steps=7"}), "");  // a file is there to be overridden
  EXPECT_EQ(faults_of("", {"train.steps=7", "train.steps=7", "train.steps=8"}),
            "--set train.steps=7: train.steps is set already, by --set train.steps=7; give it once\n"
            "--set train.steps=8: train.steps is set already, by --set train.steps=7; give it once");
  ConfigBuilder builder;
  builder.set("train.steps=7");
  builder.set_flag("--steps", "train.steps", "9");
  builder.imply("--engine", "train.steps", "11");  // said by the way: it yields
  try {
    builder.finish();
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(),
                 "--steps 9: train.steps is set already, by --set train.steps=7; give it once");
  }
  EXPECT_EQ(builder.values().train.steps, 9);
}

TEST(Config, PresetsInherit) {
  const Config config = config_of("preset = \"four-heads-64\"\n[train]\nsteps = 5\n");
  EXPECT_EQ(config.preset, "four-heads-64");
  EXPECT_EQ(config.model.heads, 4);
  EXPECT_EQ(config.model.context, 64);         // from one-head-64
  EXPECT_EQ(config.train.weight_decay, 1e-4);  // from one-head-smoke
  EXPECT_EQ(config.train.steps, 5);
  EXPECT_EQ(faults_of("preset = \"four-head-64\"\n"),
            "t.toml: there is no preset 'four-head-64'; the nearest is 'four-heads-64' (line 1)");
  EXPECT_THROW(preset_config("none-such"), Refusal);
}

TEST(Config, AShortTryShortensThePresetsWarmUp) {
  ConfigBuilder builder;
  builder.add_preset("shakespeare-char");  // 100 steps of warm-up
  builder.set_flag("--steps", "train.steps", "50");
  EXPECT_EQ(builder.finish().train.warmup, 5);
  EXPECT_EQ(faults_of("preset = \"shakespeare-char\"\n[train]\nsteps = 50\nwarmup = 60\n"),
            "t.toml: train.warmup 60 is longer than train.steps 50 (line 4)");
}

TEST(Config, AnotherFamilyDropsInheritedKeysOfTheFirst) {
  ConfigBuilder builder;
  builder.add_preset("four-heads-64");
  builder.set("model.family=window_mlp");
  EXPECT_EQ(builder.finish().model.heads, 1);
}

TEST(Config, ResolveFillsDefaultsOnce) {
  const Config config =
      config_of("preset = \"llama-tiny\"\n[train]\nschedule = \"trapezoid\"\nsteps = 50\nwarmup = 5\n");
  EXPECT_EQ(config.model.kv_heads, 6);
  EXPECT_EQ(config.model.d_k, 288);
  EXPECT_EQ(config.model.d_v, 288);
  EXPECT_EQ(config.train.block, 256);
  EXPECT_EQ(config.train.cooldown, 10);
  EXPECT_EQ(config_to_toml(resolve(config)), config_to_toml(config));
}

TEST(Config, EveryPresetReadsBackFromItsToml) {
  EXPECT_EQ(preset_names().size(), 15u);
  EXPECT_EQ(preset_names().front(), "one-head-smoke");
  for (const std::string& name : preset_names()) {
    ConfigBuilder builder;
    builder.add_preset(name);
    const std::string resolved = config_to_toml(builder.finish());
    ConfigBuilder again;
    again.add_toml(resolved, name);
    EXPECT_EQ(config_to_toml(again.finish()), resolved);
    EXPECT_FALSE(preset_about(name).empty()) << name;
  }
}

TEST(Config, TomlHoldsAnyText) {
  Config config;
  config.data.text = "quote \" back \\ slash\nline\ttab \x01\x7F é";
  config.train.learning_rate = 0.1 + 0.2;
  config.train.clip = 1e300;
  ConfigBuilder builder;
  builder.add_toml(config_to_toml(config), "t.toml");
  EXPECT_EQ(builder.values().data.text, config.data.text);
  EXPECT_EQ(builder.values().train.learning_rate, config.train.learning_rate);
}

TEST(Config, WhatCouldSpoilATerminalIsEscaped) {
  EXPECT_EQ(faults_of("", {"data.text=\xFF", "a\nb=1"}),
            "--set data.text=\xFF: data.text must be UTF-8 text; byte 0 is not\n"
            "--set 'a\\nb=1': 'a\\nb' is no setting");
}

TEST(Config, JsonIsRefusedByName) {
  ConfigBuilder builder;
  try {
    builder.add_file("x.json");
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "x.json: only TOML is a configuration, not JSON");
  }
}

TEST(ConfigPage, IsMadeFromTheTable) {
  const std::string path = std::string(TRIL_SOURCE_DIR) + "/docs/configuration.md";
  if (std::getenv("TRIL_REGENERATE") != nullptr) write_file_atomically(path, configuration_page());
  EXPECT_EQ(read_file(path), configuration_page());
}

// The files of the optional data folder; what each must get stands in its manifest.
TEST(Config, Fixtures) {
  const char* given = std::getenv("TRIL_SHARED");
  const std::string folder =
      (given != nullptr ? given : std::string(TRIL_SOURCE_DIR) + "/../shared") + "/fixtures/cfg/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const auto faults = [&](const std::string& name) -> std::string {
    try {
      ConfigBuilder builder;
      builder.add_file(folder + name);
      builder.finish();
      return "";
    } catch (const Refusal& refusal) {
      return refusal.what();
    }
  };
  const auto has = [&](const std::string& name, const std::string& words) {
    EXPECT_NE(faults(name).find(words), std::string::npos) << name << ": " << faults(name);
  };
  has("unknown_key.toml", "model.heads_ is no setting; the nearest is 'heads' (line 4)");
  has("unknown_key.toml", "model.actvation is no setting; the nearest is 'activation' (line 5)");
  has("wrong_type.toml", "model.layers must be an integer, is a string (line 2)");
  EXPECT_EQ(faults("int_as_float_ok.toml"), "");
  has("nan_inf.toml", "train.learning_rate must be a finite number, is nan (line 2)");
  has("nan_inf.toml", "train.weight_decay must be a finite number, is inf (line 3)");
  has("nan_inf.toml", "train.clip must be a finite number, is -inf (line 4)");
  has("zero.toml", "model.layers must be 1 to 1,000, is 0 (line 2)");
  has("zero.toml", "model.heads must be 1 to 4,096, is 0 (line 3)");
  has("zero.toml", "model.context must be 1 to 1,048,576, is 0 (line 4)");
  has("zero.toml", "train.batch must be 1 to 1,048,576, is 0 (line 6)");
  has("odd_head_dim_rope.toml", "rotary positions need an even head size; d_k 15 / heads 5 is 3");
  has("syntax.toml", "syntax.toml: line 1, column 7: ");
  EXPECT_EQ(faults("bom.toml"), "");
  has("lr_as_string.json", "only TOML is a configuration");
  has("nan.json", "only TOML is a configuration");
}

}  // namespace
}  // namespace tril
