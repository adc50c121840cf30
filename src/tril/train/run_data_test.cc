#include "tril/train/run_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tril/train/run_folder_testing.h"

namespace tril {
namespace {

class RunDataTest : public testing::Test {
 protected:
  std::string refusal(const std::string& text) const {
    put(path_, text);
    return refusal_of([&] { read_manifest(path_); });
  }
  const TestFolder folder_{"run_data"};
  const std::string path_ = folder_.at("data.json");
};

TEST_F(RunDataTest, ADamagedManifestIsToldByFileAndKey) {
  const std::string remedy = "; put it back, or remove it and have it made again by: tril resume";
  for (const char* text : {"", "{", "[1]", "null", "{\"source\": "})
    EXPECT_EQ(refusal(text), path_ + ": is not a JSON object (damaged?)" + remedy) << text;
  for (const char* text : {"{}", R"({"source": 1})", R"({"source": {}})", R"({"source": {"sha256": 5}})"})
    EXPECT_EQ(refusal(text), path_ + ": has no text 'sha256' in 'source' (damaged?)" + remedy) << text;
  EXPECT_EQ(refusal(R"({"source": {"sha256": "a"}, "tokenizer": {"fingerprint": null}})"),
            path_ + ": has no text 'fingerprint' in 'tokenizer' (damaged?)" + remedy);
  EXPECT_EQ(refusal(R"({"source": {"sha256": "a"}, "tokenizer": {"fingerprint": "b"}})"), "");
  EXPECT_EQ(refusal(std::string(300000, '[')), path_ + ": is nested more than 200 levels deep");
}

TEST_F(RunDataTest, AManifestOfAnotherTextIsRefused) {
  const nlohmann::json manifest = {{"source", {{"sha256", "a"}}}};
  require_same_text(path_, manifest, "a");
  require_same_text(path_, manifest, "");
  EXPECT_EQ(refusal_of([&] { require_same_text(path_, manifest, "b"); }),
            path_ +
                ": names a text of SHA-256 a, the checkpoint was trained on one of b: one of the two is of "
                "another run");
}

TEST_F(RunDataTest, AManifestIsThereDamagedOrMissing) {
  EXPECT_FALSE(has_manifest(folder_.at("none.json"), "a"));
  EXPECT_EQ(refusal(R"({"source": {"sha256": "a"}, "tokenizer": {"fingerprint": "b"}})"), "");
  EXPECT_TRUE(has_manifest(path_, "a"));
  EXPECT_NE(refusal_of([&] { has_manifest(path_, "b"); }), "");
  put(path_, "{");
  EXPECT_NE(refusal_of([&] { has_manifest(path_, "a"); }), "");
}

TEST_F(RunDataTest, AResultCountsForItsOwnStepsOnly) {
  EXPECT_EQ(read_result(path_, 5), std::nullopt);
  const std::string parts = R"({"train": 1, "validation": 0, "test": 0})",
                    whole = R"({"run": "r", "parameters": 4, "documents": )" + parts + R"(, "targets": )" +
                            parts +
                            R"(, "vocab_size": 3, "steps": 5, "selected_step": 5, "tokens_seen": 9,
      "validation_loss": null, "validation_perplexity": 1.5, "seconds": {"data": 0, "train": 0, "eval": 0, "total": 0},
      "tokens_per_second": 2.5, "peak_bytes": 7, "trace": [{"step": 1, "tokens_seen": 2, "train_batch_loss": 3.5,
      "validation_loss": null}], "samples": ["a"]})";
  put(path_, whole);
  EXPECT_TRUE(read_result(path_, 5));
  EXPECT_EQ(read_result(path_, 6), std::nullopt);
  std::vector<std::string> damaged = {"{", "[]", "{}", "{\"steps\": \"5\"}"};
  const auto document = nlohmann::ordered_json::parse(whole);
  for (const auto& [key, value] : document.items()) {
    for (const nlohmann::ordered_json& other : {nlohmann::ordered_json(true), nlohmann::ordered_json("x")}) {
      if (value.is_string() && other.is_string()) continue;
      auto changed = document;
      changed[key] = other;
      damaged.push_back(changed.dump());
    }
    auto without = document;
    without.erase(key);
    if (key != "samples") damaged.push_back(without.dump());
  }
  for (const std::string& text : damaged) {
    put(path_, text);
    testing::internal::CaptureStderr();
    EXPECT_EQ(read_result(path_, 5), std::nullopt) << text;
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning: " + path_ + ": is not the result of a run (damaged?); it is made again\n");
  }
}

}  // namespace
}  // namespace tril
