// The pages of docs/formats/ are enough to read what tril writes: readers written from them alone, with
// nothing of tril's own code, against a run that the library made.
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "page_readers.h"
#include "tril/base/folder_testing.h"
#include "tril/train/run_folder.h"

namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using namespace tril_pages;

std::string hex_sha256(const std::string& bytes) {
  unsigned char digest[32];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest);
  std::string text;
  for (const unsigned char byte : digest) {
    for (const int digit : {byte / 16, byte % 16}) text += "0123456789abcdef"[digit];
  }
  return text;
}

// docs/formats/checkpoint.md
json read_state(const fs::path& checkpoint) {
  std::string text = slurp(checkpoint / "state.json");
  EXPECT_EQ(text.substr(0, 11), "{\"digest\":\"");
  const std::string digest = text.substr(11, 64);
  EXPECT_EQ(text.substr(75, 2), "\",");
  EXPECT_EQ(text.back(), '\n');
  text.replace(11, 64, std::string(64, '0'));
  EXPECT_EQ(hex_sha256(text), digest);
  return json::parse(text);
}

TEST(FormatPages, AreEnoughToReadARun) {
  const tril::TestFolder folder("pages");
  const fs::path path = folder.at("run");
  const std::string fingerprint(64, 'f');
  float weights[6] = {1, 2, 3, 4, 5, 6}, moments[6] = {};
  {
    using namespace tril;
    RunFolder run = RunFolder::create(path.string());
    run.write("config.toml", "[train]\n");
    for (const int64_t step : {1, 50}) {
      run.append_metrics("{\"step\": " + std::to_string(step) + ", \"train_batch_loss\": 7.3}");
      run.save({step,
                50,
                fingerprint,
                {stored("W_Q", Tensor{{2, 3}, DType::f32, weights})},
                {stored("W_Q.m", Tensor{{6}, DType::f32, moments})},
                "{\"draws\":42}",
                {{"train.clip", "1.0"}},
                std::string(64, 'e')});
      weights[0] = -1;
    }
  }
  // docs/formats/run-folder.md
  const json last = json::parse(slurp(path / "last.json")), best = json::parse(slurp(path / "best.json"));
  EXPECT_EQ(last, json::parse(R"({"step": 50, "path": "checkpoints/step-00000050"})"));
  EXPECT_EQ(best, last);
  EXPECT_FALSE(fs::exists(path / "lock"));
  std::ifstream metrics(path / "metrics.jsonl");
  std::vector<int> steps;
  for (std::string line; std::getline(metrics, line);) steps.push_back(json::parse(line)["step"]);
  EXPECT_EQ(steps, (std::vector<int>{1, 50}));

  const fs::path checkpoint = path / last["path"].get<std::string>();
  const json state = read_state(checkpoint);
  EXPECT_EQ(state["format"], 1);
  EXPECT_EQ(state["step"], 50);
  EXPECT_EQ(state["best_step"], 50);
  EXPECT_EQ(state["tokenizer"].get<std::string>(), fingerprint);
  EXPECT_EQ(state["training"]["draws"], 42);
  EXPECT_EQ(state["settings"], (json{{"train.clip", "1.0"}}));
  EXPECT_EQ(state["source"].get<std::string>(), std::string(64, 'e'));
  EXPECT_EQ(state["metrics"]["lines"], 2);
  EXPECT_EQ(state["metrics"]["sha256"].get<std::string>(), hex_sha256(slurp(path / "metrics.jsonl")));
  for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
    const std::string bytes = slurp(checkpoint / name);
    EXPECT_EQ(state["files"][name]["bytes"], bytes.size());
    EXPECT_EQ(state["files"][name]["sha256"].get<std::string>(), hex_sha256(bytes));
  }
  const PageFile model = read_safetensors(slurp(checkpoint / "model.safetensors"));
  EXPECT_EQ(model.metadata, (json{{"format", "pt"}, {"step", "50"}, {"tokenizer", fingerprint}}));
  ASSERT_EQ(model.tensors.count("W_Q"), 1u);
  const PageTensor& tensor = model.tensors.at("W_Q");
  EXPECT_EQ(tensor.dtype, "F32");
  EXPECT_EQ(tensor.shape, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(float_at(tensor.bytes, 0), -1);
  EXPECT_EQ(float_at(tensor.bytes, 5), 6);
}

}  // namespace
