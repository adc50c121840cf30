#include "tril/explore/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/base/folder_testing.h"
#include "tril/formats/npz.h"
#include "tril/formats/safetensors.h"
#include "tril/text/load_tokenizer.h"
#include "tril/text/word_tokenizer.h"
#include "tril/train/config.h"
#include "tril/train/run_folder.h"

namespace tril {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class Show : public testing::Test {
 protected:
  std::string at(const std::string& name) const { return files_.at(name); }
  std::string put(const std::string& name, std::string_view bytes) const {
    std::ofstream(at(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return at(name);
  }
  const TestFolder files_{"show"};
  const std::string& folder_ = files_.path();
};

/// A whole run with two checkpoints, as training leaves it.
void make_run(const std::string& path, float first_weight = -1,
              const std::string& state = "{\"loss\": 0.5}") {
  RunFolder run = RunFolder::create(path);
  run.write("config.toml", config_to_toml(resolve(preset_config("one-head-smoke"))));
  const WordTokenizer tokenizer({"a", "b"});
  run.write("tokenizer.json", tokenizer.to_json());
  float weights[4] = {first_weight, 0, 2, 5};
  for (const int64_t step : {1, 2}) {
    run.append_metrics(fmt::format("{{\"step\": {}}}", step));
    run.save({step,
              1,
              tokenizer.fingerprint(),
              {stored("W_Q", Tensor{{2, 2}, DType::f32, weights})},
              {stored("W_Q.m", Tensor{{4}, DType::f32, weights})},
              state});
  }
  run.write("data.json", "{}");
  run.write("result.json", "{}");
}

TEST_F(Show, Safetensors) {
  float values[4] = {1, -2, NAN, INFINITY};
  const StoredTensor tensors[] = {stored("w", Tensor{{2, 2}, DType::f32, values}),
                                  {"e", StoredType::kU8, {0}, ""}};
  write_safetensors(at("f.safetensors"), tensors, {{"k", "v"}});
  const Shown shown = show(at("f.safetensors"));
  EXPECT_EQ(json::parse(shown_as_json(shown)),
            json::parse(R"({"kind":"safetensors","metadata":{"format":"pt","k":"v"},"tensors":[
              {"name":"w","dtype":"F32","shape":[2,2],"min":-2.0,"max":1.0},
              {"name":"e","dtype":"U8","shape":[0],"min":null,"max":null}]})"));
  EXPECT_THAT(shown.warnings,
              ElementsAre(HasSubstr("'w' holds NaN (1 of 4"), HasSubstr("'w' holds infinities (1 of 4")));
  EXPECT_EQ(shown_as_text(shown), at("f.safetensors") +
                                      ": safetensors\n  format: pt\n  k: v\n"
                                      "tensor  type  shape   min  max\n"
                                      "w       F32   [2, 2]   -2    1\n"
                                      "e       U8    [0]       -    -\n"
                                      "2 tensors, 4 numbers\n");
  fs::copy(at("f.safetensors"), at("without_ending"));
  EXPECT_EQ(show(at("without_ending")).kind, "safetensors");
}

TEST_F(Show, NumPyArchives) {
  float values[2] = {1, -2};
  const StoredTensor tensors[] = {stored("w", Tensor{{2}, DType::f32, values})};
  write_npz(at("f.npz"), tensors);
  fs::copy(at("f.npz"), at("without_ending"));
  for (const char* name : {"f.npz", "without_ending"}) {
    const Shown shown = show(at(name));
    EXPECT_EQ(shown.kind, "npz");
    EXPECT_EQ(shown.tensors.at(0).min, -2);
    EXPECT_EQ(shown.tensors.at(0).dtype, "F32");
  }
}

// One tensor of four numbers of 8 bits, one of a type that is known by size alone, 64 bytes of nothing.
TEST_F(Show, Gguf) {
  const auto raw = [](auto value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const auto text = [&](std::string_view value) { return raw(uint64_t{value.size()}).append(value); };
  const auto entry = [&](std::string_view name, uint64_t size, uint32_t type, uint64_t offset) {
    return text(name) + raw(uint32_t{1}) + raw(size) + raw(type) + raw(offset);
  };
  std::string bytes = "GGUF" + raw(uint32_t{3}) + raw(uint64_t{2}) + raw(uint64_t{2});
  bytes += text("a\xff\x1b") + raw(uint32_t{8}) + text("b");
  bytes += text("list") + raw(uint32_t{9}) + raw(uint32_t{5}) + raw(uint64_t{9});
  for (int32_t i = 0; i < 9; ++i) bytes += raw(i);
  bytes += entry("small", 4, 24, 0) + entry("q", 256, 12, 32);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  bytes.append("\1\xff\7\0", 4).append(28 + 144 + 64, '\0');
  const Shown shown = show(put("f.gguf", bytes));
  EXPECT_EQ(shown.kind, "gguf");
  EXPECT_EQ(shown.tensors.at(0).dtype, "I8");
  EXPECT_EQ(shown.tensors.at(0).min, -1);
  EXPECT_EQ(shown.tensors.at(0).max, 7);
  EXPECT_FALSE(shown.tensors.at(1).has_range);
  EXPECT_THAT(shown.warnings,
              ElementsAre(HasSubstr("'q' is of type Q4_K"), HasSubstr("64 bytes belong to no tensor")));
  const json list = json::parse(shown_as_json(shown))["metadata"]["list"];
  EXPECT_EQ(list, json::parse(R"({"array":"i32","length":9,"first":[0,1,2,3,4,5,6,7]})"));
  EXPECT_THAT(shown_as_text(shown), HasSubstr("\\x1b: b\n"));
}

TEST_F(Show, Tokenizer) {
  const Shown shown = show(put("tokenizer.json", WordTokenizer({"a", "b"}).to_json()));
  const json metadata = json::parse(shown.metadata);
  EXPECT_EQ(shown.kind, "tokenizer");
  EXPECT_EQ(metadata["vocab_size"], 6);
  EXPECT_EQ(metadata["eos"], json::parse(R"({"id":2,"text":"<EOS>"})"));
  EXPECT_TRUE(shown.warnings.empty());
  EXPECT_THAT(refusal_of([&] { show(put("t.json", "{\"model\": {\"type\": \"Unigram\"}}")); }),
              HasSubstr("Unigram"));
}

TEST_F(Show, GapsInIdsAreWarnedOf) {
  json tokenizer = json::parse(WordTokenizer({"a", "b", "c"}).to_json());
  json& vocabulary = tokenizer["model"]["vocab"];
  vocabulary["b"] = 9;
  vocabulary["c"] = 20;
  const Shown shown = show(put("t.json", tokenizer.dump()));
  EXPECT_THAT(shown.warnings,
              ElementsAre(at("t.json") + ": no token has the id 5, 6, 7, 8, 10 ... (14 in all)"));
  EXPECT_EQ(json::parse(shown.metadata)["vocab_size"], 21);
  vocabulary["a"] = 9;  // a gap no more than a fault: two tokens with one id
  EXPECT_THAT(refusal_of([&] { show(put("t.json", tokenizer.dump())); }), HasSubstr("t.json"));
  vocabulary["a"] = 4;
  vocabulary["c"] = 2147483647;
  EXPECT_THAT(refusal_of([&] { show(put("t.json", tokenizer.dump())); }), HasSubstr("the id of"));
}

TEST_F(Show, Configurations) {
  const Shown shown = show(put("c.toml", "preset = \"window-mlp\"\n[train]\nsteps = 5\n"));
  EXPECT_EQ(shown.kind, "config");
  EXPECT_EQ(json::parse(shown.metadata)["train"]["steps"], 5);
  EXPECT_EQ(json::parse(shown.metadata)["model"]["family"], "window_mlp");
  EXPECT_THAT(refusal_of([&] { show(put("bad.toml", "[train]\nstepz = 5\n")); }), HasSubstr("steps"));
  EXPECT_EQ(show(put("config.json", R"({"model_type":"gpt2","n_layer":2})")).kind, "config.json");
}

TEST_F(Show, JsonInAnotherCodingIsCalledWhatItIs) {
  using std::string_literals::operator""s;
  EXPECT_THAT(refusal_of([&] { show(put("wide.json", "\xFF\xFE{\0}\0"s)); }), HasSubstr("UTF-16"));
  EXPECT_THAT(refusal_of([&] { show(put("config.json", "{\"model_type\":\"gpt2\"}\0more"s)); }),
              HasSubstr("byte 21: a zero byte"));
}

TEST_F(Show, RunsAndCheckpoints) {
  make_run(at("run"));
  const Shown run = show(at("run") + "/");
  EXPECT_EQ(run.kind, "run");
  ASSERT_EQ(run.tensors.size(), 1u);
  EXPECT_EQ(run.tensors[0].name, "W_Q");
  EXPECT_EQ(run.tensors[0].min, -1);
  EXPECT_EQ(run.tensors[0].max, 5);
  const json metadata = json::parse(run.metadata);
  EXPECT_EQ(metadata["checkpoints"], json::parse("[1, 2]"));
  EXPECT_EQ(metadata["shown_step"], 1);
  EXPECT_EQ(metadata["metrics_lines"], 2);
  EXPECT_TRUE(run.warnings.empty());
  const Shown checkpoint = show(at("run/checkpoints/step-00000002"));
  EXPECT_EQ(checkpoint.kind, "checkpoint");
  EXPECT_EQ(checkpoint.tensors[1].name, "optimizer/W_Q.m");
  EXPECT_EQ(json::parse(checkpoint.metadata)["training"]["loss"], 0.5);
}

TEST_F(Show, DamageInARunIsTold) {
  make_run(at("run"), NAN);
  std::ofstream(at("run/metrics.jsonl"), std::ios::app) << "rubbish\n";
  fs::resize_file(at("run/checkpoints/step-00000002/optimizer.safetensors"), 30);
  const Shown shown = show(at("run"));
  EXPECT_THAT(shown.warnings, ElementsAre(HasSubstr("line 3 is no JSON object"), HasSubstr("has 30 bytes"),
                                          HasSubstr("'W_Q' holds NaN")));
  fs::resize_file(at("run/checkpoints/step-00000001/model.safetensors"), 30);
  EXPECT_THAT(refusal_of([&] { show(at("run")); }), HasSubstr("no checkpoint is whole"));
}

TEST_F(Show, ARunsOwnJsonFilesAndAnAdapterAreNamed) {
  make_run(at("run"));
  EXPECT_EQ(show(at("run/checkpoints/step-00000001/state.json")).kind, "a checkpoint's state");
  EXPECT_EQ(show(at("run/data.json")).kind, "a run's record of its text");
  EXPECT_EQ(show(at("run/result.json")).kind, "a run's result");
  const Shown best = show(at("run/best.json"));
  EXPECT_EQ(best.kind, "a run's pointer to its best checkpoint");
  EXPECT_EQ(json::parse(best.metadata).at("step"), 1);
  fs::create_directory(at("adapter"));
  put("adapter/adapter_config.json", "{\"r\": 4}");
  float weights[4] = {-1, 0, 2, 5};
  const StoredTensor tensor = stored("x.lora_A.weight", Tensor{{2, 2}, DType::f32, weights});
  write_safetensors(at("adapter/adapter_model.safetensors"), std::vector{tensor}, {});
  const Shown adapter = show(at("adapter"));
  EXPECT_EQ(adapter.kind, "PEFT adapter");
  EXPECT_EQ(json::parse(adapter.metadata).at("r"), 4);
  ASSERT_EQ(adapter.tensors.size(), 1u);
  EXPECT_EQ(adapter.tensors[0].name, "x.lora_A.weight");
  EXPECT_THAT(adapter.warnings,
              ElementsAre(HasSubstr("tril does not compute this adapter: peft_type is missing")));
  put("adapter/adapter_config.json", "[1e999]");
  EXPECT_EQ(refusal_of([&] { show(at("adapter")); }),
            at("adapter/adapter_config.json") + ": holds a number beyond the range of a double: '1e999'");
}

TEST_F(Show, OtherFilesAreRefusedByTheirKind) {
  EXPECT_THAT(refusal_of([&] { show(at("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal_of([&] { show(folder_); }), HasSubstr("holds no run"));
  EXPECT_THAT(refusal_of([&] { show(put("story.txt", "Once upon a time")); }), HasSubstr("show knows"));
  EXPECT_THAT(refusal_of([&] { show(put("x.txt", std::string_view("\x1f\x8b\x08\0\0", 5))); }),
              HasSubstr("gzip"));
  EXPECT_THAT(refusal_of([&] { show(put("a.json", "[1]")); }), HasSubstr("a.json"));
  std::string deep = "{\"model_type\": ";
  for (int i = 0; i < 300000; ++i) deep += '[';
  EXPECT_THAT(refusal_of([&] { show(put("deep.json", deep)); }), HasSubstr("levels deep"));
}

TEST_F(Show, ARunsMissingAndStrangePiecesAreNamed) {
  make_run(at("run"));
  EXPECT_TRUE(show(at("run")).warnings.empty());
  for (const char* name : {"tokenizer.json", "data.json", "metrics.jsonl", "best.json"})
    fs::remove(at("run/") + name);
  put("run/last.json", "[]");
  put("run/result.json", "3");
  put("run/notes.txt", "?");
  fs::create_directories(at("run/checkpoints/step-x"));
  std::vector<std::string> said = show(at("run")).warnings;
  const auto named = [&](const std::string& text) { return testing::Contains(at("run/") + text); };
  EXPECT_THAT(said, named("tokenizer.json: is missing"));
  EXPECT_THAT(said, named("data.json: is missing"));
  EXPECT_THAT(said, named("metrics.jsonl: is missing"));
  EXPECT_THAT(said, named("best.json: is missing"));
  EXPECT_THAT(said, named("last.json: names no checkpoint"));
  EXPECT_THAT(said, named("result.json: is no JSON object"));
  EXPECT_THAT(said, named("notes.txt: is no part of a run"));
  EXPECT_THAT(said, named("checkpoints/step-x: is no part of a run"));
  EXPECT_EQ(said.size(), 8u);
}

// It never had a text; and what resume sets aside is known.
TEST_F(Show, AnImportedRunLacksNothing) {
  make_run(at("run"), -1, R"({"imported_from": "m.gguf"})");
  fs::remove(at("run/data.json"));
  fs::rename(at("run/checkpoints/step-00000002"), at("run/checkpoints/step-00000002.damaged"));
  put("run/profile.json", "{}");
  EXPECT_THAT(show(at("run")).warnings, ElementsAre());
  fs::create_directories(at("run/checkpoints/x.damaged"));
  EXPECT_THAT(show(at("run")).warnings, ElementsAre(at("run/checkpoints/x.damaged: is no part of a run")));
}

TEST_F(Show, AnIndexOfWeightsInSeveralFiles) {
  put("a.safetensors", "");
  put("model.safetensors.index.json",
      R"({"metadata": {"total_size": 8}, "weight_map": {"w": "a.safetensors", "v": "b.safetensors", "u": "../c"}})");
  const Shown shown = show(at("model.safetensors.index.json"));
  EXPECT_EQ(json::parse(shown.metadata)["files"]["a.safetensors"], 1);
  EXPECT_THAT(shown.warnings,
              ElementsAre(HasSubstr("'../c' is no name of a file in its own folder"),
                          HasSubstr("'b.safetensors', which holds 1 tensors, is not beside it")));
  put("bad.index.json", R"({"weight_map": [1]})");
  EXPECT_THAT(refusal_of([&] { show(at("bad.index.json")); }), HasSubstr("its weight_map is no object"));
}

}  // namespace
}  // namespace tril
