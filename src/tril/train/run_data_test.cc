#include "tril/train/run_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
  put(path_, "{\"steps\": 5}");
  EXPECT_TRUE(read_result(path_, 5));
  EXPECT_EQ(read_result(path_, 6), std::nullopt);
  for (const char* text : {"{", "[]", "{}", "{\"steps\": \"5\"}"}) {
    put(path_, text);
    testing::internal::CaptureStderr();
    EXPECT_EQ(read_result(path_, 5), std::nullopt) << text;
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "warning: " + path_ + ": is not the result of a run (damaged?); it is made again\n");
  }
}

}  // namespace
}  // namespace tril
