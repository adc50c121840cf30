#include "tril/text/load_tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tril/base/error.h"
#include "tril/base/file.h"
#include "tril/base/folder_testing.h"
#include "tril/text/char_tokenizer.h"
#include "tril/text/word_tokenizer.h"

namespace tril {
namespace {

using Json = nlohmann::ordered_json;

std::string refusal(const std::string& json) {
  try {
    parse_tokenizer(json, "t.json");
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
  return "no refusal";
}

/// The word file of "a" and "b" (ids 4 and 5) with a change made to it.
std::string changed(const auto& change) {
  Json file = Json::parse(WordTokenizer({"a", "b"}).to_json());
  change(file);
  return file.dump();
}

TEST(LoadTokenizer, FromAFileAndFromARunFolder) {
  const TemporaryFolder scratch;
  const std::string folder = scratch / "run";
  std::filesystem::create_directories(folder);
  write_file_atomically(folder + "/tokenizer.json", WordTokenizer({"dog"}).to_json());
  EXPECT_EQ(load_tokenizer(folder)->encode("dog"), std::vector<int32_t>{4});
  EXPECT_EQ(load_tokenizer(folder + "/tokenizer.json")->vocab_size(), 5);
  std::filesystem::remove_all(folder);
  EXPECT_THROW(load_tokenizer(folder), Refusal);
}

TEST(LoadTokenizer, IdsMustBeTheFirstIntegersEachOnce) {
  const auto with_id = [](const Json& id) {
    return changed([&](Json& file) { file["model"]["vocab"]["a"] = id; });
  };
  EXPECT_EQ(refusal(with_id(5)), "t.json: id 5 is used by \"a\" and \"b\"");
  EXPECT_EQ(refusal(with_id(-1)), "t.json: the id of \"a\" is -1; 6 tokens have the ids 0 to 5");
  EXPECT_EQ(refusal(with_id(6)), "t.json: the id of \"a\" is 6; 6 tokens have the ids 0 to 5");
  EXPECT_EQ(refusal(with_id(4.5)), "t.json: the id of \"a\" is 4.5, not an integer");
  EXPECT_EQ(refusal(with_id("4")), "t.json: the id of \"a\" is \"4\", not an integer");
}

TEST(LoadTokenizer, WhatTrilDoesNotHaveIsRefusedByName) {
  EXPECT_NE(refusal(changed([](Json& file) { file["model"]["type"] = "Unigram"; })).find("type \"Unigram\""),
            std::string::npos);
  EXPECT_NE(refusal(changed([](Json& file) { file["normalizer"] = nullptr; })).find("normalizer"),
            std::string::npos);
  EXPECT_NE(refusal(changed([](Json& file) {
              file["pre_tokenizer"]["type"] = "Whitespace";
            })).find("pre_tokenizer"),
            std::string::npos);
  EXPECT_NE(refusal(changed([](Json& file) {
              file["added_tokens"].push_back({{"id", 2}});
            })).find("added_tokens"),
            std::string::npos);
  EXPECT_EQ(refusal(changed([](Json& file) {
              file["model"]["vocab"] = {{"a", 0}};
            })),
            "t.json: id 0 must be <PAD>, as in a word vocabulary that tril wrote");
}

TEST(LoadTokenizer, DamagedFilesAreRefused) {
  EXPECT_EQ(refusal(""), "t.json: byte 1: not valid JSON");
  EXPECT_EQ(refusal("{\"model\": {"), "t.json: byte 12: not valid JSON");
  EXPECT_EQ(refusal("{\"a\": [1e999]}"), "t.json: holds a number beyond the range of a double: '1e999'");
  EXPECT_EQ(refusal("[1, 2]"), "t.json: not a tokenizer.json: it holds no \"model\"");
  EXPECT_EQ(refusal("{\"model\": 3}"), "t.json: not a tokenizer.json: it holds no \"model\"");
  EXPECT_EQ(refusal("{\"a\": 1, \"a\": 2}"), "t.json: the key \"a\" occurs twice in one object");
  EXPECT_EQ(refusal("{\"a\": \"\xFF\"}"), "t.json: byte 7: not valid UTF-8 (0xFF); save the text as UTF-8");
  EXPECT_NE(refusal(std::string("\xFF\xFE{\0", 4)).find("UTF-16"), std::string::npos);
  EXPECT_EQ(refusal("\xEF\xBB\xBF" + WordTokenizer({"a"}).to_json()),
            "no refusal");  // a mark alone does no harm
  EXPECT_EQ(refusal(std::string(100000, '[')), "t.json: is nested more than 200 levels deep");
  EXPECT_EQ(refusal(WordTokenizer({"a"}).to_json() + '\0').substr(0, 13), "t.json: byte ");
}

TEST(LoadTokenizer, CharactersMustBeOneCodePoint) {
  Json file = Json::parse(CharTokenizer({'a', 'b'}).to_json());
  file["model"]["vocab"] = {{"a", 0}, {"bc", 1}};
  EXPECT_EQ(refusal(file.dump()), "t.json: id 1 is \"bc\", not one character");
}

std::string shared(const std::string& file) {
  const char* folder = std::getenv("TRIL_SHARED");
  return (folder != nullptr ? folder : TRIL_SOURCE_DIR "/../shared") + ("/fixtures/tok/" + file);
}

TEST(LoadTokenizer, ForeignFilesThatAreNotBpe) {
  if (!std::filesystem::exists(shared("model_unigram.json"))) GTEST_SKIP() << "no shared data";
  for (const char* file : {"model_unigram.json", "model_wordlevel.json", "utf16.json"}) {
    EXPECT_THROW(load_tokenizer(shared(file)), Refusal) << file;
  }
}

}  // namespace
}  // namespace tril
