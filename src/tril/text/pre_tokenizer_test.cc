#include "tril/text/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tril/text/bpe_testing.h"

namespace tril {
namespace {

using bpe_testing::hostile_bytes;
using bpe_testing::refusal;
using nlohmann::json;
using Pieces = std::vector<std::string>;

Pieces split(const PreTokenizer& rule, std::string_view text) {
  Pieces pieces;
  EXPECT_EQ(rule.split(text, 0, true, [&](std::string_view piece) { pieces.emplace_back(piece); }),
            text.size());
  return pieces;
}

/// The same text given byte by byte, as far as it is settled each time.
Pieces split_in_steps(const PreTokenizer& rule, const std::string& text) {
  Pieces pieces;
  size_t begin = 0;
  for (size_t end = 1; end <= text.size(); ++end) {
    begin = rule.split(std::string_view(text).substr(0, end), begin, false,
                       [&](std::string_view piece) { pieces.emplace_back(piece); });
  }
  rule.split(text, begin, true, [&](std::string_view piece) { pieces.emplace_back(piece); });
  return pieces;
}

std::vector<PreTokenizer> rules() {
  const SplitRegex vowels("[aeiou]+(?!x)", SplitBehavior::kMergedWithPrevious, false);
  std::vector<PreTokenizer> rules;
  rules.push_back(PreTokenizer({SplitPattern::kGpt2}));
  rules.push_back(PreTokenizer({SplitPattern::kGpt4}));
  rules.push_back(PreTokenizer({SplitPattern::kGpt4Tiktoken}));
  rules.push_back(PreTokenizer({SplitPattern::kDigits, SplitPattern::kGpt2}));
  rules.push_back(PreTokenizer({vowels, SplitPattern::kGpt2}));
  rules.push_back(PreTokenizer({SplitRegex("\\s+$|\\p{L}+", SplitBehavior::kIsolated, false)}));
  rules.push_back(PreTokenizer({SplitPattern::kWhole}));
  return rules;
}

TEST(PreTokenizer, StagesCutWhatTheOneBeforeLeft) {
  // The blank rule sees the end of its own piece: two blanks before a digit stay together.
  EXPECT_EQ(split(PreTokenizer({SplitPattern::kDigits, SplitPattern::kGpt2}), "a  12 b"),
            (Pieces{"a", "  ", "1", "2", " b"}));
  EXPECT_EQ(split(PreTokenizer({SplitPattern::kGpt2}), "a  12 b"), (Pieces{"a", " ", " 12", " b"}));
}

TEST(PreTokenizer, KeepsEveryByteWhereNothingDrops) {
  for (const PreTokenizer& rule : rules()) {
    EXPECT_FALSE(rule.drops());
    for (const std::string& text : hostile_bytes(300)) {
      std::string joined;
      for (const std::string& piece : split(rule, text)) joined += piece;
      ASSERT_EQ(joined, text);
    }
  }
  const PreTokenizer dropping({SplitRegex(" ", SplitBehavior::kRemoved, false)});
  EXPECT_TRUE(dropping.drops());
  EXPECT_EQ(split(dropping, "a b"), (Pieces{"a", "b"}));
}

TEST(PreTokenizer, WhatIsSettledStaysSettled) {
  for (const PreTokenizer& rule : rules()) {
    for (const std::string& text : hostile_bytes(200))
      ASSERT_EQ(split_in_steps(rule, text), split(rule, text));
  }
}

TEST(PreTokenizer, BrokenBytesCutAlikeByHandAndByPcre2) {
  const PreTokenizer by_hand({SplitPattern::kGpt4});
  const PreTokenizer by_regex(
      {SplitRegex(std::string(pattern_source(SplitPattern::kGpt4)), SplitBehavior::kIsolated, false)});
  for (const std::string& text : hostile_bytes(2000)) ASSERT_EQ(split(by_hand, text), split(by_regex, text));
  EXPECT_EQ(split(by_regex, "a\u180E\u180E \u180Eb"), split(by_hand, "a\u180E\u180E \u180Eb"));
}

PreTokenizer read(const std::string& part) {
  bool prefix = false;
  return read_pre_tokenizer(json::parse(part), "t.json", prefix);
}

TEST(PreTokenizerJson, ReadsWhatItWrites) {
  for (const auto pattern : {SplitPattern::kGpt2, SplitPattern::kGpt4, SplitPattern::kGpt4Tiktoken,
                             SplitPattern::kQwen2, SplitPattern::kDigits, SplitPattern::kWhole}) {
    const PreTokenizer rule = read(pre_tokenizer_json(pattern));
    ASSERT_EQ(rule.stages().size(), 1u);
    EXPECT_EQ(std::get<SplitPattern>(rule.stages()[0]), pattern);
  }
}

TEST(PreTokenizerJson, DigitsBeforeGpt2AsSmolLm) {
  const PreTokenizer rule =
      read(R"({"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true},
      {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]})");
  EXPECT_EQ(split(rule, "it's 42"), (Pieces{"it", "'s", " ", "4", "2"}));
}

TEST(PreTokenizerJson, NamesOfGgufFiles) {
  EXPECT_EQ(split(read(named_pre_tokenizer_json("smollm")), "it's 42"), (Pieces{"it", "'s", " ", "4", "2"}));
  EXPECT_EQ(split(read(named_pre_tokenizer_json("llama-bpe")), "IT'S 1234"),
            (Pieces{"IT", "'S", " ", "123", "4"}));
  EXPECT_EQ(split(read(named_pre_tokenizer_json("gpt-2")), " 1234"), (Pieces{" 1234"}));
  EXPECT_EQ(split(read(named_pre_tokenizer_json("qwen2")), " 12"), (Pieces{" ", "1", "2"}));
  EXPECT_NE(refusal([] { named_pre_tokenizer_json("chatglm-bpe"); }).find("'chatglm-bpe'"),
            std::string::npos);
}

TEST(PreTokenizerJson, WhatTrilDoesNotHaveIsRefusedByName) {
  const auto why = [](const std::string& part) { return refusal([&] { read(part); }); };
  EXPECT_EQ(
      why(R"({"type": "QuantumSplit"})"),
      "t.json: the pre-tokenizer type 'QuantumSplit' is not supported; tril has ByteLevel, Split, Digits and "
      "Sequence");
  EXPECT_NE(why(R"({"type": "Split", "pattern": {"Regex": "a"}, "behavior": "Sideways"})").find("'Sideways'"),
            std::string::npos);
  EXPECT_NE(why("null").find("no ByteLevel"), std::string::npos);
  EXPECT_NE(why("7").find("no type"), std::string::npos);
  EXPECT_NE(
      why(R"({"type": "Split", "pattern": {"Regex": "a("}, "behavior": "Isolated"})").find("missing closing"),
      std::string::npos);
  std::string deep = R"({"type": "Split"})";
  for (int i = 0; i < 50; ++i) deep = R"({"type": "Sequence", "pretokenizers": [)" + deep + "]}";
  EXPECT_NE(why(deep).find("deep"), std::string::npos);
}

TEST(PreTokenizerJson, OtherPartsAreRefusedByName) {
  const std::string name = "t.json";
  EXPECT_NE(
      refusal([&] { refuse_unless_known_normalizer(json::parse(R"({"type": "NFC"})"), name); }).find("'NFC'"),
      std::string::npos);
  refuse_unless_known_normalizer(json::parse(R"({"type": "Sequence", "normalizers": []})"), name);
  EXPECT_NE(refusal([&] {
              refuse_unless_known_decoder(json::parse(R"({"type": "WordPiece"})"), name);
            }).find("'WordPiece'"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] { read_post_processor(json::parse(R"({"type": "Oracle"})"), name); }).find("'Oracle'"),
      std::string::npos);
}

TEST(PreTokenizerJson, TheTemplateNamesTheFirstAndLastToken) {
  const auto ends = read_post_processor(json::parse(R"({"type": "TemplateProcessing", "single":
      [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]})"),
                                        "t.json");
  EXPECT_EQ(ends.first, "<s>");
  EXPECT_EQ(ends.second, "");
  EXPECT_NE(refusal([] {
              read_post_processor(json::parse(R"({"type": "TemplateProcessing"})"), "t.json");
            }).find("not as its type"),
            std::string::npos);
}

}  // namespace
}  // namespace tril
