#include "tril/train/config_effects.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tril/base/error.h"
#include "tril/train/config.h"

namespace tril {
namespace {

std::string faults_of(const std::string& preset, const std::vector<std::string>& settings) {
  try {
    ConfigBuilder builder;
    builder.add_preset(preset);
    for (const std::string& setting : settings) builder.set(setting);
    builder.finish();
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "";
}

// Settings that count whatever the others are; each new key belongs here or in the table.
const std::set<std::string> kAlways = {"data.path",
                                       "data.text",
                                       "data.documents",
                                       "data.split",
                                       "data.tokenizer",
                                       "model.family",
                                       "model.d_model",
                                       "model.heads",
                                       "model.kv_heads",
                                       "model.d_k",
                                       "model.d_v",
                                       "model.hidden",
                                       "model.layers",
                                       "model.context",
                                       "model.norm",
                                       "model.position",
                                       "model.activation",
                                       "model.bias",
                                       "model.attention_bias",
                                       "model.head_bias",
                                       "model.tied",
                                       "model.dropout",
                                       "model.mask",
                                       "model.qk_norm",
                                       "model.softcap",
                                       "model.zero_init",
                                       "model.init",
                                       "train.seed",
                                       "train.steps",
                                       "train.batch",
                                       "train.accumulate",
                                       "train.batches",
                                       "train.random",
                                       "train.optimizer",
                                       "train.learning_rate",
                                       "train.schedule",
                                       "train.warmup",
                                       "train.beta1",
                                       "train.beta2",
                                       "train.epsilon",
                                       "train.weight_decay",
                                       "train.clip",
                                       "train.freeze",
                                       "train.from",
                                       "train.minutes",
                                       "train.eval_every",
                                       "train.log_every",
                                       "train.checkpoint_every",
                                       "train.keep_checkpoints",
                                       "train.samples",
                                       "lora.rank",
                                       "run.engine",
                                       "run.dtype",
                                       "run.threads"};

TEST(ConfigEffects, EveryKeyIsInTheTableOrAlwaysCounts) {
  std::set<std::string> rows;
  for (const Effect& effect : effects())
    EXPECT_TRUE(rows.insert(std::string(effect.key)).second) << effect.key;
  for (const ConfigKey& key : config_keys()) {
    const std::string name = key.full_name();
    EXPECT_NE(rows.count(name), kAlways.count(name)) << name << " belongs into effects() or into kAlways";
    rows.erase(name);
  }
  EXPECT_TRUE(rows.empty()) << *rows.begin() << " is no key";
}

TEST(ConfigEffects, WhatTheUserSetInVainIsRefusedWithWhatItNeeds) {
  EXPECT_EQ(
      faults_of("shakespeare-char",
                {"train.momentum=0.9", "train.schedule=constant", "train.min_learning_rate=1e-5",
                 "data.path=a.txt", "data.seed=3", "data.pattern=gpt4", "data.vocabulary=80",
                 "model.rope_theta=500", "train.weight_decay=0", "train.decay=matrices"}),
      "--set data.seed=3: data.seed has no effect without the built-in tales as its text\n"
      "--set data.pattern=gpt4: data.pattern has no effect without data.tokenizer bpe\n"
      "--set data.vocabulary=80: data.vocabulary has no effect without data.tokenizer word or bpe: a char "
      "vocabulary is every character, and a file has its own\n"
      "--set model.rope_theta=500: model.rope_theta has no effect without model.position rotary\n"
      "--set train.min_learning_rate=1e-5: train.min_learning_rate has no effect without a train.schedule "
      "that "
      "falls: cosine, linear or trapezoid\n"
      "--set train.decay=matrices: train.decay has no effect without train.weight_decay\n"
      "--set train.momentum=0.9: train.momentum has no effect without train.optimizer muon");
  EXPECT_EQ(faults_of("one-head-smoke", {"data.repeat=3"}),
            "--set data.repeat=3: data.repeat has no effect without data.text");
  EXPECT_EQ(faults_of("one-head-smoke", {"train.block=5"}),
            "--set train.block=5: train.block has no effect without model.family decoder: a window is "
            "model.context long");
}

TEST(ConfigEffects, TheDefaultItselfIsNoFault) {
  EXPECT_EQ(faults_of("shakespeare-char", {"train.momentum=0.95", "data.seed=0", "data.repeat=1"}), "");
}

TEST(ConfigEffects, WhatAPresetBroughtAlongFallsBackToItsDefault) {
  ConfigBuilder builder;
  builder.add_preset("shakespeare-char");  // its schedule is a cosine down to 1e-4
  builder.set("train.schedule=constant");
  builder.set("train.learning_rate=1e-5");  // below that end, which no longer counts
  const Config config = builder.finish();
  EXPECT_EQ(config.train.min_learning_rate, 0);
  ConfigBuilder again;
  again.add_toml(config_to_toml(config), "again");
  EXPECT_EQ(config_to_toml(again.finish()), config_to_toml(config));
}

TEST(ConfigEffects, AdamTakesPyTorchsWeightDecay) {
  EXPECT_EQ(faults_of("one-head-smoke", {"train.optimizer=adam", "train.weight_decay=0.1"}), "");
}

// A value other than the default, of each key that the table holds, is a fault exactly where it does not
// count.
TEST(ConfigEffects, EachRowAnswersToItsCondition) {
  Config config;
  for (const Effect& effect : effects()) {
    const std::string_view section = effect.key.substr(0, effect.key.find('.'));
    const ConfigKey* key = find_key(section, effect.key.substr(section.size() + 1));
    ASSERT_NE(key, nullptr) << effect.key;
    ConfigKey everywhere = *key;
    everywhere.families = kEveryFamily;
    EXPECT_EQ(no_effect(config, everywhere).empty(), effect.counts(config)) << effect.key;
  }
}

}  // namespace
}  // namespace tril
