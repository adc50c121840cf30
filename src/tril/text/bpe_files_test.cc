#include "tril/text/bpe_files.h"

#include <gtest/gtest.h>

#include "tril/base/folder_testing.h"
#include "tril/text/bpe_testing.h"

namespace tril {
namespace {

using namespace bpe_testing;

const std::string kMerges = "#version: 0.2\nh e\nl l\r\nhe ll\nhell o\n\u0120 w\n\n";

std::string vocabulary() {
  Json vocab = small_file()["model"]["vocab"];
  vocab["<|endoftext|>"] = 261;
  return vocab.dump();
}

std::shared_ptr<const BpeTokenizer> read(const std::string& vocab, const std::string& merges) {
  return parse_vocab_and_merges(vocab, "vocab.json", merges, "merges.txt");
}

TEST(BpeFiles, GiveTheIdsOfTheSameTokenizerJson) {
  const auto tokenizer = read(vocabulary(), kMerges);
  EXPECT_EQ(tokenizer->encode("hello world"), (Ids{259, 260, 111, 114, 108, 100}));
  EXPECT_EQ(tokenizer->eos(), 261);
  EXPECT_EQ(tokenizer->encode("<|endoftext|>").size(), 13u);
  EXPECT_EQ(tokenizer->encode("<|endoftext|>", Specials::kAsTokens), Ids{261});
}

TEST(BpeFiles, FromAFolderOrEitherFile) {
  const TemporaryFolder scratch;
  const std::string folder = scratch.path();
  write_file_atomically(folder + "/vocab.json", vocabulary());
  write_file_atomically(folder + "/merges.txt", kMerges);
  for (const char* inside : {"", "/vocab.json", "/merges.txt"}) {
    EXPECT_EQ(load_tokenizer(folder + inside)->encode("hello"), Ids{259}) << inside;
  }
  std::filesystem::remove(folder + "/merges.txt");
  EXPECT_NE(refusal([&] { load_tokenizer(folder + "/vocab.json"); }).find("merges.txt"), std::string::npos);
}

TEST(BpeFiles, FaultsAreNamedWithTheirLine) {
  const auto why = [](const std::string& merges) { return refusal([&] { read(vocabulary(), merges); }); };
  EXPECT_EQ(why("#version: 0.2\nh e\nhe\n"),
            "merges.txt: line 3: 'he' is not two tokens with a blank between");
  EXPECT_EQ(why("h e l\n"), "merges.txt: line 1: 'h e l' is not two tokens with a blank between");
  EXPECT_EQ(why("h e\nzz q\n"), "merges.txt: line 2: 'zz' is not in the vocabulary");
  EXPECT_EQ(why("h h\n"), "merges.txt: line 1: 'hh' is not in the vocabulary");
  EXPECT_EQ(why("h e\xFF\n").substr(0, 18), "merges.txt: byte 3");
  EXPECT_EQ(refusal([] { read("[]", kMerges); }), "vocab.json: not an object of tokens and their ids");
  EXPECT_NE(refusal([] { read("{", kMerges); }).find("vocab.json"), std::string::npos);
}

}  // namespace
}  // namespace tril
