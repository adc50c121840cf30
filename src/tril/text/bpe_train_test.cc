#include "tril/text/bpe_train.h"

#include <gtest/gtest.h>

#include "tril/text/bpe_testing.h"

namespace tril {
namespace {

using namespace bpe_testing;

const std::string kParity = TRIL_SOURCE_DIR "/tests/parity/";

Json stored() {
  return Json::parse(read_file(kParity + "hf_bpe.json"));
}

SplitPattern pattern_of(const std::string& name) {
  return name == "gpt2"   ? SplitPattern::kGpt2
         : name == "gpt4" ? SplitPattern::kGpt4
                          : SplitPattern::kGpt4Tiktoken;
}

BpeDefinition trained(const std::string& text, BpeTrainSettings settings) {
  BpeTrainer trainer(std::move(settings));
  trainer.add(text);
  return trainer.train();
}

// "aab aab ab": the pieces are "aab", " aab", " ab". Pairs: a b three times; a a and Ġ a twice. After "a b" →
// ab: a ab twice, Ġ a and Ġ ab once. After "a ab": Ġ aab and Ġ ab once; the pair of lower ids comes first
// (the blank is id 220, ab 256, aab 257), so Ġ ab and then Ġ aab.
TEST(BpeTrain, ByHand) {
  const BpeDefinition definition = trained("aab aab ab", {.vocab_size = 1000});
  EXPECT_EQ(merge_lines(definition), "a b\na ab\n\u0120 ab\n\u0120 aab\n");
  EXPECT_EQ(definition.tokens.size(), 261u);  // fewer than asked: no pair is left
  EXPECT_EQ(definition.tokens[260], "<|endoftext|>");
  EXPECT_EQ(definition.eos, 260);
  const BpeTokenizer tokenizer(definition);
  EXPECT_EQ(tokenizer.encode("aab ab"), (Ids{257, 258}));
}

TEST(BpeTrain, SizesAndCounts) {
  EXPECT_EQ(trained("aab aab ab", {.vocab_size = 258}).tokens.size(), 258u);
  EXPECT_EQ(merge_lines(trained("aab aab ab", {.vocab_size = 258})), "a b\n");
  EXPECT_EQ(merge_lines(trained("aab aab ab", {.vocab_size = 1000, .min_count = 3})), "a b\n");
  const BpeDefinition bare = trained("ab", {.vocab_size = 256, .end_token = ""});
  EXPECT_EQ(bare.tokens.size(), 256u);
  EXPECT_EQ(bare.eos, std::nullopt);
  EXPECT_EQ(refusal([] { BpeTrainer({.vocab_size = 256}); }),
            "a vocabulary of 256 ids is too small: the 256 bytes and the end token need 257");
  EXPECT_EQ(refusal([] { BpeTrainer({.vocab_size = 300}).train(); }), "no text to train a tokenizer on");
}

TEST(BpeTrain, TextsDoNotJoin) {
  BpeTrainer apart({.vocab_size = 300});
  apart.add("a");
  apart.add("b");
  EXPECT_EQ(apart.bytes(), 2);
  EXPECT_EQ(apart.pieces(), 2);
  EXPECT_EQ(merge_lines(apart.train()), "");
}

TEST(BpeTrain, StoredNumbersBelongToTheScript) {
  const Json numbers = stored();
  for (const auto& [script, hash] : numbers["scripts"].items())
    EXPECT_EQ(sha256_hex(read_file(kParity + script)), hash.get<std::string>());
  const std::string pins = read_file(kParity + "requirements.txt");
  for (const char* library : {"tokenizers", "tiktoken"}) {
    EXPECT_NE(pins.find(library + ("==" + numbers[library].get<std::string>()) + "\n"), std::string::npos);
  }
}

TEST(BpeTrain, MergesAndIdsAreThoseOfHuggingFaceAndTiktoken) {
  const Json numbers = stored();
  std::string all;
  for (const auto& text : numbers["texts"]) all += text.get<std::string>();
  for (const auto& [name, expected] : numbers["patterns"].items()) {
    const BpeDefinition definition =
        trained(all, {.vocab_size = expected["size"], .pattern = pattern_of(name)});
    EXPECT_EQ(definition.merges.size(), expected["merges"].get<size_t>());
    ASSERT_EQ(sha256_hex(merge_lines(definition)), expected["merges_sha256"].get<std::string>()) << name;
    const BpeTokenizer tokenizer(definition);
    // The same file read back gives the same ids, by way of the patterns in it.
    const auto again = parse_tokenizer(tokenizer.to_json(), "t.json");
    EXPECT_EQ(again->fingerprint(), tokenizer.fingerprint());
    for (size_t i = 0; i < numbers["texts"].size(); ++i) {
      const auto text = numbers["texts"][i].get<std::string>();
      const Ids ids = tokenizer.encode(text);
      EXPECT_EQ(digest(ids), expected["ids"][std::to_string(i)]["sha256"].get<std::string>())
          << name << ": " << text;
      EXPECT_EQ(again->encode(text), ids);
      EXPECT_EQ(tokenizer.decode(ids), text);
    }
  }
}

TEST(BpeTrain, SharedTextsGiveTheSameMergesAndIds) {
  if (shared_folder(TRIL_SOURCE_DIR).empty()) GTEST_SKIP() << "no shared data";
  const auto text = [](const std::string& name) {
    return read_file(shared_folder(TRIL_SOURCE_DIR) + "/data/" + name);
  };
  const Json numbers = stored();
  for (const auto& [name, expected] : numbers["shared"].items()) {
    const BpeDefinition definition =
        trained(text("tinyshakespeare.txt"), {.vocab_size = expected["size"], .pattern = pattern_of(name)});
    ASSERT_EQ(sha256_hex(merge_lines(definition)), expected["merges_sha256"].get<std::string>()) << name;
    const BpeTokenizer tokenizer(definition);
    for (const auto& [file, ids] : expected["ids"].items()) {
      const Ids got = tokenizer.encode(text(file));
      EXPECT_EQ(got.size(), ids["count"].get<size_t>()) << name << " " << file;
      EXPECT_EQ(digest(got), ids["sha256"].get<std::string>()) << name << " " << file;
      EXPECT_EQ(tokenizer.decode(got), text(file));
    }
  }
}

}  // namespace
}  // namespace tril
