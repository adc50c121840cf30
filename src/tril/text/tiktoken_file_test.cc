#include "tril/text/tiktoken_file.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "tril/text/bpe_testing.h"
#include "tril/text/bpe_train.h"

namespace tril {
namespace {

using namespace bpe_testing;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<uint8_t>(bytes[at + i]) : 0);
    }
    for (size_t i = 0; i < 4; ++i) text += at + i > bytes.size() ? '=' : kDigits[group >> (18 - 6 * i) & 63];
  }
  return text;
}

/// The file that tiktoken would read, of the tokens by their ranks.
std::string file_of(const std::vector<std::string>& tokens) {
  std::string text;
  for (size_t rank = 0; rank < tokens.size(); ++rank)
    text += base64(tokens[rank]) + fmt::format(" {}\n", rank);
  return text;
}

std::vector<std::string> all_bytes() {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  return tokens;
}

TEST(TiktokenFile, ByHand) {
  auto tokens = all_bytes();
  for (const char* token : {"he", "ll", "hello", "hell"}) tokens.push_back(token);
  const auto tokenizer = parse_tiktoken(file_of(tokens), "x.tiktoken", "gpt2");
  EXPECT_EQ(tokenizer->vocab_size(), 260);
  // The whole piece is looked up before any merge; " hello" is none and is merged: he, ll, hell, hello.
  EXPECT_EQ(tokenizer->encode("hello"), Ids{258});
  EXPECT_EQ(tokenizer->encode(" hello"), (Ids{32, 258}));
  EXPECT_EQ(tokenizer->eos(), std::nullopt);
  EXPECT_NE(tokenizer->to_json().find("\"ignore_merges\": true"), std::string::npos);
}

TEST(TiktokenFile, EqualRanksMergeFromTheLeft) {
  // aaa is a + aa and aa + a with one rank: of a aa a, made by nothing but hand, the left pair goes first.
  auto tokens = all_bytes();
  tokens.push_back("aaa");
  tokens.push_back("aa");
  const auto tokenizer = parse_tiktoken(file_of(tokens), "x.tiktoken", "gpt2");
  EXPECT_EQ(tokenizer->encode("aaaaa"), (Ids{256, 257}));
}

TEST(TiktokenFile, TheIdsOfTiktokenOnStoredTexts) {
  const std::string folder = TRIL_SOURCE_DIR "/tests/parity/";
  const Json numbers = Json::parse(read_file(folder + "hf_bpe.json"));
  std::string all;
  for (const auto& text : numbers["texts"]) all += text.get<std::string>();
  const std::pair<const char*, SplitPattern> patterns[] = {{"gpt2", SplitPattern::kGpt2},
                                                           {"gpt4_tiktoken", SplitPattern::kGpt4Tiktoken}};
  for (const auto& [name, pattern] : patterns) {
    const auto& expected = numbers["patterns"][name];
    BpeTrainer trainer({.vocab_size = expected["size"], .pattern = pattern, .end_token = ""});
    trainer.add(all);
    const BpeTokenizer trained(trainer.train());
    std::vector<std::string> tokens;
    for (int32_t id = 0; id + 1 < trained.vocab_size(); ++id) tokens.emplace_back(trained.token_bytes(id));
    const std::string file = file_of(tokens);
    ASSERT_EQ(sha256_hex(file), expected["tiktoken_file_sha256"].get<std::string>());
    const auto tokenizer = parse_tiktoken(file, "x", name == std::string("gpt2") ? "gpt2" : "gpt4");
    const auto saved = parse_tokenizer(tokenizer->to_json(), "t.json");
    for (size_t i = 0; i < numbers["texts"].size(); ++i) {
      const auto text = numbers["texts"][i].get<std::string>();
      EXPECT_EQ(digest(tokenizer->encode(text)),
                expected["ids"][std::to_string(i)]["sha256"].get<std::string>());
      EXPECT_EQ(tokenizer->encode(text), saved->encode(text));
    }
  }
}

TEST(TiktokenFile, OpenAisFilesAreKnownByTheirNames) {
  auto tokens = all_bytes();
  while (tokens.size() < 100256) tokens.push_back(fmt::format("~{}", tokens.size()));
  const auto tokenizer = parse_tiktoken(file_of(tokens), "some/cl100k_base.tiktoken");
  EXPECT_EQ(tokenizer->vocab_size(), 100277);
  EXPECT_EQ(tokenizer->eos(), 100257);
  EXPECT_EQ(tokenizer->encode("a<|endofprompt|>", Specials::kAsTokens), (Ids{97, 100276}));
  EXPECT_EQ(tokenizer->encode("1234").size(), 4u);
}

TEST(TiktokenFile, O200kCutsWordsByCase) {
  const auto tokenizer = parse_tiktoken(file_of(all_bytes()), "o200k_base.tiktoken");
  std::vector<std::string> pieces;
  tokenizer->definition().pre_tokenizer.split("getHTTPResponse it's 1234", 0, true,
                                              [&](std::string_view piece) { pieces.emplace_back(piece); });
  EXPECT_EQ(pieces, (std::vector<std::string>{"get", "HTTPResponse", " it's", " ", "123", "4"}));
}

TEST(TiktokenFile, FaultsAreNamedWithTheirLine) {
  const auto why = [](const std::string& text) {
    return refusal([&] { parse_tiktoken(text, "gpt2.tiktoken"); });
  };
  EXPECT_EQ(why("YQ== 0\nYg= 1\n"), "gpt2.tiktoken: line 2: not a token in base64, a blank and its rank");
  EXPECT_EQ(why("YQ== 0\nYg== -1\n"), "gpt2.tiktoken: line 2: not a token in base64, a blank and its rank");
  EXPECT_EQ(why("YQ== 0\nYg== 1.5\n"), "gpt2.tiktoken: line 2: not a token in base64, a blank and its rank");
  EXPECT_EQ(why("YQ== 0\nYg== 0\n"), "gpt2.tiktoken: line 2: rank 0 stands there twice");
  EXPECT_EQ(why("YQ== 0\nYQ== 1\n"), "gpt2.tiktoken: ranks 0 and 1 are the same token");
  EXPECT_EQ(why("YQ== 4000000000\n"),
            "gpt2.tiktoken: line 1: rank 4000000000 is far above the 2 tokens of the file");
  EXPECT_EQ(why("YQ== 0\n"), "gpt2.tiktoken: no token for the byte 0x00");
  EXPECT_EQ(why(""), "gpt2.tiktoken: no tokens in the file");
  EXPECT_NE(refusal([] { parse_tiktoken(file_of(all_bytes()), "mine.tiktoken"); }).find("cl100k_base"),
            std::string::npos);
}

}  // namespace
}  // namespace tril
