// Fine-tuning by the program itself: from another program's model, with frozen parts and with adapters; what
// it leaves alone stays bit for bit, and what it does not take is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "program.h"
#include "tril/base/file.h"
#include "tril/base/hash.h"
#include "tril/formats/foreign_testing.h"
#include "tril/formats/safetensors.h"
#include "tril/train/loaded_run.h"

namespace tril {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class Finetune : public testing::Test {
 protected:
  Finetune() {
    ModelConfig config = small_llama(270);
    config.context = 16;
    export_hf(exported(*filled_model(config), *small_tokenizer()), folder_ / "hf");
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the cat and the hat sat; that is the thing that they had then\n";
    write_file_atomically(folder_ / "t.txt", text);
  }
  std::vector<std::string> words(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {
        "train", "--from", folder_ / "hf",       "--data", folder_ / "t.txt", "--out", out, "--steps",
        "6",     "--set",  "train.eval_every=4", "--json"};
    const auto is_rate = [](const std::string& word) { return word.starts_with("train.learning_rate"); };
    if (std::none_of(more.begin(), more.end(), is_rate))
      all.insert(all.end(), {"--set", "train.learning_rate=0.01"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  json train(const std::string& out, const std::vector<std::string>& more = {}) const {
    const ProgramResult done = run_program(words(out, more));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out, nullptr, false);
  }
  std::string refused(const std::vector<std::string>& more) const {
    const ProgramResult done = run_program(words(folder_ / "refused", more));
    EXPECT_EQ(done.exit_code, 2) << done.out << done.err;
    EXPECT_FALSE(folder_exists(folder_ / "refused")) << done.err;
    return done.err;
  }
  /// SHA-256 of each tensor of a checkpoint's file.
  static std::map<std::string, std::string> digests(const std::string& run, const char* step,
                                                    const char* file = "model") {
    std::map<std::string, std::string> all;
    const SafetensorsFile tensors(run + "/checkpoints/step-" + step + "/" + file + ".safetensors");
    for (const StoredTensor& tensor : tensors.tensors()) all[tensor.name] = sha256_hex(tensor.bytes);
    return all;
  }
  std::map<std::string, std::string> base_digests() {
    const ProgramResult imported = run_program({"import", folder_ / "hf", "--out", folder_ / "imported"});
    EXPECT_EQ(imported.exit_code, 0) << imported.err;
    return digests(folder_ / "imported", "00000000");
  }
  TemporaryFolder folder_;
};

TEST_F(Finetune, GoesOnFromAFolderAndFromTheRunItGave) {
  const json whole = train(folder_ / "a");
  EXPECT_EQ(whole["trained_parameters"], whole["parameters"]);
  const json& trace = whole["trace"];
  EXPECT_LT(trace.back()["train_batch_loss"], trace.front()["train_batch_loss"]);
  EXPECT_EQ(load_run(folder_ / "a").ends.ends, (std::vector<int32_t>{269}));
  const ProgramResult again = run_program({"train", "--from", folder_ / "a", "--data", folder_ / "t.txt",
                                           "--out", folder_ / "b", "--steps", "2", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("step 1: loss"));
}

// Stopped after 3 steps, or killed before the first checkpoint; its base moved away once it has one.
TEST_F(Finetune, ResumeGivesTheBitsOfAnUnbrokenRun) {
  const std::vector<std::string> lora = {"--set", "lora.rank=2", "--set", "model.dropout=0.1"};
  train(folder_ / "whole", lora);
  std::vector<std::string> three = words(folder_ / "part", lora);
  three[8] = "3";
  ASSERT_EQ(run_program(three).exit_code, 0);
  const ProgramResult killed =
      run_program(words(folder_ / "early", lora), {.environment = {"TRIL_FAULT=rename:4:kill"}});
  ASSERT_EQ(killed.exit_code, 137) << killed.err;
  ASSERT_FALSE(folder_exists(folder_ / "early/checkpoints"));
  const ProgramResult early = run_program({"resume", folder_ / "early"});
  EXPECT_EQ(early.exit_code, 0) << early.err;
  remove_path(folder_ / "hf");
  const ProgramResult part = run_program({"resume", folder_ / "part", "--steps", "6"});
  EXPECT_EQ(part.exit_code, 0) << part.err;
  for (const char* file : {"model", "optimizer"}) {
    const auto want = digests(folder_ / "whole", "00000006", file);
    EXPECT_EQ(digests(folder_ / "part", "00000006", file), want);
    EXPECT_EQ(digests(folder_ / "early", "00000006", file), want);
  }
}

TEST_F(Finetune, TheBaseOfAnAdapterStaysBitForBit) {
  const json done = train(folder_ / "lora", {"--set", "lora.rank=2"});
  // Two blocks: q 2 (8 + 8), v 2 (8 + 4).
  EXPECT_EQ(done["trained_parameters"], 2 * (2 * 16 + 2 * 12));
  const auto base = base_digests(), after = digests(folder_ / "lora", "00000006");
  for (const auto& [name, digest] : base) EXPECT_EQ(after.at(name), digest) << name;
  EXPECT_EQ(after.size(), base.size() + 8);
  for (const auto& [name, digest] : digests(folder_ / "lora", "00000006", "optimizer"))
    EXPECT_THAT(name, HasSubstr(".lora_"));
}

TEST_F(Finetune, FrozenPartsStayBitForBitAndHaveNoMoments) {
  for (const char* optimizer : {"adamw", "muon"}) {
    const std::string run = folder_ / optimizer;
    const json done =
        train(run, {"--set", "train.freeze=token_embedding,blocks.*.attention,head", "--set",
                    std::string("train.optimizer=") + optimizer, "--set", "train.weight_decay=0.1"});
    EXPECT_LT(done["trained_parameters"], done["parameters"]);
    const auto base = base_digests(), after = digests(run, "00000006");
    remove_path(folder_ / "imported");
    for (const auto& [name, digest] : base) {
      const bool frozen = name.starts_with("token_embedding") || name.starts_with("head") ||
                          name.find(".attention") != std::string::npos;
      EXPECT_EQ(after.at(name) == digest, frozen) << name;
    }
    for (const auto& [name, digest] : digests(run, "00000006", "optimizer"))
      EXPECT_EQ(name.find(".attention"), std::string::npos) << name;
  }
}

TEST_F(Finetune, AnAdapterGoesOutAloneOrMergedAndComesBack) {
  const std::string run = folder_ / "lora";
  train(run, {"--set", "lora.rank=2"});
  for (const char* to : {"hf", "gguf", "safetensors", "npz"}) {
    const ProgramResult unsaid = run_program({"export", run, "--to", to, "--out", folder_ / "none"});
    EXPECT_EQ(unsaid.exit_code, 2);
    EXPECT_THAT(unsaid.err, HasSubstr("--merge writes the model with it, --to peft the adapter alone"));
    const std::string out = folder_ / (std::string("merged-") + to);
    const ProgramResult merged = run_program({"export", run, "--to", to, "--merge", "--out", out});
    EXPECT_EQ(merged.exit_code, 0) << merged.err;
  }
  const ProgramResult alone = run_program({"export", run, "--to", "peft", "--out", folder_ / "adapter"});
  ASSERT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(run_program({"import", folder_ / "adapter", "--out", folder_ / "none"}).err,
              HasSubstr("is an adapter without its base model; train with --from BASE --set lora.adapter="));
  const std::vector<std::string> tuned = {"train",           "--from", run,          "--data",
                                          folder_ / "t.txt", "--out",  folder_ / "n"};
  EXPECT_THAT(run_program(tuned).err, HasSubstr("has an adapter of rank 2; go on with it by tril resume "));
  // The same adapter once more: its first loss is that of the run after its last step.
  const auto score = [&](const std::string& path) {
    const ProgramResult done = run_program({"score", path, "--text", "the cat and the hat", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out)["loss"].get<double>();
  };
  const json back = train(folder_ / "back", {"--set", "lora.adapter=" + (folder_ / "adapter"), "--set",
                                             "train.learning_rate=1e-30"});
  EXPECT_EQ(back["trained_parameters"], 112);
  EXPECT_NEAR(score(folder_ / "back"), score(run), 1e-6);
  ASSERT_EQ(run_program({"import", folder_ / "merged-hf", "--out", folder_ / "merged"}).exit_code, 0);
  EXPECT_NEAR(score(folder_ / "merged"), score(run), 1e-4);
  for (const char* command : {"generate", "trace", "check", "eval", "show", "resume"}) {
    std::vector<std::string> words = {command, run};
    if (std::string(command) == "generate")
      words.insert(words.end(), {"--prompt", "the", "--max-new-tokens", "4"});
    if (std::string(command) == "trace") words.insert(words.end(), {"--text", "the cat"});
    const ProgramResult used = run_program(words);
    EXPECT_EQ(used.exit_code, 0) << command << used.out << used.err;
  }
}

// A text, named as the word or by --data, is trained on with the same settings; so is one beside --set
// train.from.
TEST_F(Finetune, ATextBesideABaseTakesTheDefaultsOfFineTuning) {
  const std::string base = folder_ / "hf", text = folder_ / "t.txt", from = "train.from=" + base;
  const std::vector<std::vector<std::string>> ways = {{"--data", text, "--from", base},
                                                      {text, "--from", base + "/"},
                                                      {text, "--set", from},
                                                      {"--data", text, "--set", from}};
  std::string first;
  for (const std::vector<std::string>& way : ways) {
    const std::string out = folder_ / ("way" + std::to_string(&way - ways.data()));
    std::vector<std::string> words = {"train", "--out", out, "--steps", "1"};
    words.insert(words.end(), way.begin(), way.end());
    const ProgramResult done = run_program(words);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const std::string config = read_file(out + "/config.toml");
    if (first.empty()) first = config;
    EXPECT_EQ(config, first);
    EXPECT_EQ(load_run(out).config.train.learning_rate, 1e-4);
  }
  const ProgramResult none = run_program({"train", "no-such.txt", "--from", base, "--out", folder_ / "z"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("there is no preset and no file 'no-such.txt'"));
}

// What another program's adapter says is held to the ranges of its keys before anything is trained.
TEST_F(Finetune, AnAdaptersValuesAreHeldToTheirKeys) {
  train(folder_ / "lora", {"--set", "lora.rank=2"});
  ASSERT_EQ(run_program({"export", folder_ / "lora", "--to", "peft", "--out", folder_ / "adapter"}).exit_code,
            0);
  const std::string path = folder_ / "adapter/adapter_config.json";
  json config = json::parse(read_file(path));
  config["lora_alpha"] = 2e6;
  write_file_atomically(path, config.dump());
  EXPECT_THAT(refused({"--set", "lora.adapter=" + (folder_ / "adapter")}),
              HasSubstr(path + ": lora.alpha must be "));
  config["lora_alpha"] = 4, config["lora_dropout"] = 0.25;
  write_file_atomically(path, config.dump());
  const ProgramResult done =
      run_program(words(folder_ / "again", {"--set", "lora.adapter=" + (folder_ / "adapter")}));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const std::string run = folder_ / "early", weights = folder_ / "adapter/adapter_model.safetensors";
  const ProgramResult killed = run_program(words(run, {"--set", "lora.adapter=" + (folder_ / "adapter")}),
                                           {.environment = {"TRIL_FAULT=rename:4:kill"}});
  ASSERT_EQ(killed.exit_code, 137) << killed.err;
  ASSERT_FALSE(folder_exists(run + "/checkpoints"));
  const std::string whole = read_file(weights);
  std::string other = whole;
  other.back() = static_cast<char>(other.back() + 1);
  write_file_atomically(weights, other);
  EXPECT_THAT(run_program({"resume", run}).err, HasSubstr("adapter: its weights have SHA-256 "));
  write_file_atomically(weights, whole);
  EXPECT_EQ(run_program({"resume", run}).exit_code, 0);
  const size_t told = done.err.find("lora_dropout 0.25 is not applied");
  ASSERT_NE(told, std::string::npos) << done.err;
  EXPECT_EQ(done.err.find("lora_dropout", told + 1), std::string::npos) << done.err;
}

TEST_F(Finetune, ADryRunSaysWhatIsTrainedAndThePeak) {
  const ProgramResult planned = run_program({"train", "--from", folder_ / "hf", "--data", folder_ / "t.txt",
                                             "--set", "lora.rank=2", "--dry-run", "--out", folder_ / "none"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr(" parameters, 112 of them trained ("));
  EXPECT_THAT(planned.out, HasSubstr("memory   about "));
  EXPECT_FALSE(folder_exists(folder_ / "none"));
}

TEST_F(Finetune, BadInputIsRefusedByName) {
  const auto set = [&](std::vector<std::string> settings) {
    std::vector<std::string> words;
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    return refused(words);
  };
  EXPECT_THAT(set({"lora.rank=0", "lora.targets=q_proj"}),
              HasSubstr("lora.targets has no effect without lora.rank"));
  EXPECT_THAT(set({"lora.rank=9"}),
              HasSubstr("lora.rank 9 is above 8, the smaller side of attention.W_Q [8, 8]"));
  EXPECT_THAT(set({"lora.rank=2", "lora.targets=q_porj"}), HasSubstr("the nearest is 'q_proj'"));
  EXPECT_THAT(set({"lora.rank=2", "lora.targets=,"}),
              HasSubstr("--set lora.targets=,: lora.targets \",\" holds an empty name"));
  EXPECT_THAT(set({"train.freeze=head, ,blocks"}), HasSubstr("holds an empty name; it is how parameters'"));
  EXPECT_THAT(set({"lora.rank=2", "lora.alpha=nan"}), HasSubstr("lora.alpha must be"));
  EXPECT_THAT(set({"lora.adapter=nowhere"}), HasSubstr("nowhere: is no adapter in PEFT's format"));
  EXPECT_THAT(set({"model.layers=3"}), HasSubstr("model.layers is 3, and " + (folder_ / "hf") + " has 2"));
  EXPECT_THAT(set({"data.tokenizer=word"}), HasSubstr("data.tokenizer is \"word\""));
  EXPECT_THAT(set({"train.freeze=blokcs"}),
              HasSubstr("train.freeze: no parameter's name begins with 'blokcs'"));
  EXPECT_THAT(set({"train.freeze=*"}), HasSubstr("freezes every parameter"));
  EXPECT_THAT(set({"train.freeze=blocks", "lora.rank=2"}), HasSubstr("freezes every parameter"));
  const ProgramResult scratch =
      run_program({"train", "tales-bpe", "--set", "lora.rank=2", "--out", folder_ / "x"});
  EXPECT_EQ(scratch.exit_code, 2);
  EXPECT_THAT(scratch.err,
              HasSubstr("lora.rank 2 adapts a model that is there already; give it with --from"));
  train(folder_ / "plain");
  EXPECT_THAT(run_program({"export", folder_ / "plain", "--to", "hf", "--merge", "--out", folder_ / "y"}).err,
              HasSubstr("has no adapter to merge; leave --merge out"));
  EXPECT_THAT(run_program({"export", folder_ / "plain", "--to", "peft", "--out", folder_ / "y"}).err,
              HasSubstr("has no adapter; --to peft writes one alone"));
  const ProgramResult resumed = run_program({"resume", folder_ / "plain", "--from", folder_ / "hf"});
  EXPECT_EQ(resumed.exit_code, 2);
  EXPECT_THAT(resumed.err, HasSubstr("resume has no --from: a run goes on as it was begun"));
}

}  // namespace
}  // namespace tril
