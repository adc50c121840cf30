#include "tril/text/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tril/text/bpe_testing.h"
#include "tril/text/bpe_train.h"
#include "tril/text/piece_table.h"

namespace tril {
namespace {

using namespace bpe_testing;

TEST(Bpe, ByHand) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(tokenizer->encode("hello world"), (Ids{259, 260, 111, 114, 108, 100}));
  EXPECT_EQ(tokenizer->encode(""), Ids{});
  EXPECT_EQ(tokenizer->decode(Ids{259, 260, 111}), "hello wo");
  EXPECT_EQ(tokenizer->vocab_size(), 262);
  EXPECT_EQ(tokenizer->kind(), "bpe");
  EXPECT_EQ(tokenizer->eos(), 261);
  EXPECT_EQ(tokenizer->end_of_document(), 261);
  EXPECT_EQ(tokenizer->bos(), std::nullopt);
  EXPECT_FALSE(tokenizer->lossy());
  EXPECT_EQ(tokenizer->token_id("\u0120w"), 260);
  EXPECT_EQ(tokenizer->token_id("\u0120x"), std::nullopt);
}

// Case 8.
TEST(Bpe, NewlinesAndRunsOfBlanksComeBack) {
  const auto tokenizer = load(small_file());
  for (const char* text : {"hello\nworld", "a   b", "x  \n  y ", "\t\n\r\n"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(Bpe, EveryByteStringComesBack) {
  const auto tokenizer = load(small_file());
  for (const std::string& text : hostile_bytes(2000)) {
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(text, Specials::kAsTokens), true), text);
  }
}

// Case 7.
TEST(Bpe, SpecialTokensInPlainTextAreText) {
  const auto tokenizer = load(small_file());
  const Ids plain = tokenizer->encode("a<|endoftext|>b");
  EXPECT_EQ(plain.size(), 15u);
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 261), 0);
  EXPECT_EQ(tokenizer->encode("a<|endoftext|>b", Specials::kAsTokens), (Ids{97, 261, 98}));
  EXPECT_EQ(tokenizer->decode(Ids{97, 261, 98}), "ab");
  EXPECT_EQ(tokenizer->decode(Ids{97, 261, 98}, true), "a<|endoftext|>b");
  EXPECT_EQ(tokenizer->encode("<|endoftext|", Specials::kAsTokens).size(), 12u);  // only exact matches
}

TEST(Bpe, TokensAreShownWithBrokenBytesInHex) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(tokenizer->token_text(260), " w");
  EXPECT_EQ(tokenizer->token_text(0xE9), "<0xE9>");
  EXPECT_EQ(tokenizer->token_text(261), "<|endoftext|>");
  EXPECT_TRUE(tokenizer->is_special(261));
  EXPECT_FALSE(tokenizer->is_special(97));
}

// Case 4, of ids.
TEST(Bpe, IdsOutsideTheVocabularyAreNamedWithTheirPosition) {
  const auto tokenizer = load(small_file());
  EXPECT_EQ(refusal([&] {
              tokenizer->decode(Ids{97, 98, 262});
            }),
            "position 2: id 262 is outside the vocabulary of 262 ids (0 to 261)");
  EXPECT_THROW(tokenizer->token_text(-1), Refusal);
}

TEST(Bpe, IdsBeyondSixteenBits) {
  Json file = small_file();
  file["model"]["vocab"]["hello"] = 200'000;
  file["added_tokens"][0]["id"] = 300'000;
  const auto tokenizer = load(file);
  EXPECT_EQ(tokenizer->vocab_size(), 300'001);
  EXPECT_EQ(tokenizer->encode("hello<|endoftext|>", Specials::kAsTokens), (Ids{200'000, 300'000}));
  EXPECT_EQ(tokenizer->decode(Ids{200'000}), "hello");
}

// Case 6.
TEST(Bpe, LongRunsOfOneCharacter) {
  BpeTrainer trainer({.vocab_size = 270});
  trainer.add(std::string(1 << 16, 'a'));
  const BpeTokenizer tokenizer(trainer.train());
  const std::string prompt(9400, 'A'), run(5'000'000, 'a');
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(prompt)), prompt);
  const Ids ids = tokenizer.encode(run);
  EXPECT_LT(ids.size(), run.size() / 1000);
  EXPECT_EQ(tokenizer.decode(ids), run);
}

TEST(Bpe, MergesGoByRankNotByLength) {
  // With "b c" first, abc is a + bc, though the vocabulary holds ab too.
  Json file = small_file();
  file["model"]["vocab"]["bc"] = 262;
  file["model"]["vocab"]["ab"] = 263;
  file["model"]["vocab"]["abc"] = 264;
  file["model"]["merges"] = {"b c", "a b", "ab c"};
  EXPECT_EQ(load(file)->encode("abc"), (Ids{97, 262}));
  file["model"]["ignore_merges"] = true;  // the whole piece is looked up first
  EXPECT_EQ(load(file)->encode("abc"), (Ids{264}));
}

TEST(Bpe, APrefixBlankIsAddedWhereTheFileSaysSo) {
  Json file = small_file();
  file["pre_tokenizer"]["add_prefix_space"] = true;
  const auto tokenizer = load(file);
  EXPECT_TRUE(tokenizer->lossy());
  EXPECT_EQ(tokenizer->encode("w"), Ids{260});
  EXPECT_EQ(tokenizer->encode(" w"), Ids{260});
  EXPECT_EQ(tokenizer->encode("w<|endoftext|>w", Specials::kAsTokens), (Ids{260, 261, 260}));
}

TEST(Bpe, AByteWithoutATokenIsRefusedOrUnknown) {
  Json file = small_file();
  file["model"]["vocab"].erase("z");
  EXPECT_EQ(refusal([&] { load(file)->encode("ab zz"); }),
            "byte 3 of the text, 0x7A, has no token in this vocabulary and there is no unknown token");
  file["model"]["unk_token"] = "<|endoftext|>";
  EXPECT_EQ(load(file)->encode("zza"), (Ids{261, 261, 97}));
  EXPECT_TRUE(load(file)->lossy());
  file["model"]["fuse_unk"] = true;
  EXPECT_EQ(load(file)->encode("zza"), (Ids{261, 97}));
}

// A text that only mentions special tokens gives none, whatever the text; and it comes back.
TEST(Bpe, SharedTextsComeBackWithoutSpecialIds) {
  const std::string shared = shared_folder(TRIL_SOURCE_DIR);
  if (shared.empty()) GTEST_SKIP() << "no shared data";
  for (const auto pattern : {SplitPattern::kGpt2, SplitPattern::kGpt4}) {
    BpeTrainer trainer({.vocab_size = 600, .pattern = pattern});
    trainer.add(read_file(shared + "/fixtures/text/literal_specials.txt"));
    trainer.add(read_file(shared + "/data/tinystories.txt").substr(0, 50'000));
    const BpeTokenizer tokenizer(trainer.train());
    for (const auto& entry : std::filesystem::directory_iterator(shared + "/fixtures/text")) {
      const std::string text = read_file(entry.path().string());
      const Ids ids = tokenizer.encode(text);
      EXPECT_EQ(tokenizer.decode(ids), text) << entry.path();
      EXPECT_EQ(std::count(ids.begin(), ids.end(), *tokenizer.eos()), 0) << entry.path();
    }
    const std::string only = read_file(shared + "/fixtures/text/only_specials.txt");
    const Ids ids = tokenizer.encode(only, Specials::kAsTokens);
    EXPECT_GT(std::count(ids.begin(), ids.end(), *tokenizer.eos()), 0);
    EXPECT_EQ(tokenizer.decode(ids, true), only);
  }
}

TEST(PieceTable, FindsWhatWasAddedFirst) {
  const std::vector<std::string> pieces = {"",     "a",       "ab",       "abc",
                                           "abcd", "abcdefg", "abcdefgh", "abcdefghijklmnopq"};
  PieceTable table(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(table.add(pieces[i], static_cast<int32_t>(i)), i);
  for (size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(table.find(pieces[i]), i);
  EXPECT_EQ(table.add("abc", 99), 3);
  EXPECT_EQ(table.find("b"), -1);
  EXPECT_EQ(table.find("abcdefgi"), -1);
}

}  // namespace
}  // namespace tril
