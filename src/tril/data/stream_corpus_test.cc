// Streams of characters, from inline text to ids.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tril/base/error.h"
#include "tril/data/corpus.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;
using testing::Contains;
using testing::HasSubstr;

Corpus characters(const std::string& text, const std::string& split, const std::string& documents = "auto",
                  bool bounds = false, bool dedupe = true) {
  DataSettings settings;
  settings.text = text;
  settings.tokenizer = "char";
  settings.split = split;
  settings.documents = documents;
  settings.dedupe = dedupe;
  CorpusOptions options;
  options.announce = false;
  options.document_bounds = bounds;
  return build_corpus(settings, options);
}

TEST(StreamCorpus, OneDocumentIsItsCharactersAndNothingElse) {
  DataSettings settings;
  settings.text = "abc";
  settings.repeat = 20;
  settings.tokenizer = "char";
  settings.split = "none";
  CorpusOptions options;
  options.announce = false;
  const Corpus corpus = build_corpus(settings, options);
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 3);
  EXPECT_EQ(corpus.train().ids.size(), 60u);
  EXPECT_EQ(corpus.train().ids[59], 2);
  EXPECT_EQ(corpus.audit.parts[0].targets, 59);
}

TEST(StreamCorpus, TailCutsAtNineTenthsOfTheCharacters) {
  const Corpus corpus = characters(" éa\r\nbbb  cc\n\n", "tail");  // 14 characters: int(12.6) = 12 train
  EXPECT_EQ(corpus.train().ids.size(), 12u);
  EXPECT_EQ(corpus.validation().ids.size(), 2u);
  EXPECT_EQ(corpus.test().ids.size(), 0u);
  const std::string all =
      corpus.tokenizer->decode(corpus.train().ids) + corpus.tokenizer->decode(corpus.validation().ids);
  EXPECT_EQ(all, " éa\r\nbbb  cc\n\n");  // byte for byte
  EXPECT_EQ(corpus.train().text_bytes, 13);
}

TEST(StreamCorpus, TailOfTheFirstDocuments) {
  DataSettings settings;
  settings.text = "aaaa<|endoftext|>bbbb<|endoftext|>cccc";
  settings.tokenizer = "char";
  settings.split = "tail";
  settings.stories = 2;
  CorpusOptions options;
  options.announce = false;
  const Corpus corpus = build_corpus(settings, options);
  EXPECT_EQ(corpus.tokenizer->decode(corpus.train().ids), "aaaa\nbbb");  // int(0.9 · 8) = 7 characters
  EXPECT_EQ(corpus.tokenizer->decode(corpus.validation().ids), "b\n");
}

TEST(StreamCorpus, TailOfTinyText) {
  EXPECT_EQ(characters("a", "tail").train().ids.size(), 0u);  // int(0.9) = 0
  EXPECT_EQ(characters("a", "tail").validation().ids.size(), 1u);
}

// Case 5: one end token behind each document.
TEST(StreamCorpus, EveryDocumentEndsWithNewline) {
  const Corpus corpus = characters("bo\namy\r\n\n bo ", "none", "line");
  EXPECT_EQ(corpus.tokenizer->decode(corpus.train().ids), "bo\namy\nbo\n");
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 6);  // newline, a b m o y
  EXPECT_EQ(corpus.audit.empty_documents, 1);
  EXPECT_EQ(corpus.audit.lengths.longest, 3);
}

TEST(StreamCorpus, DocumentBoundsAreTwoBos) {
  const Corpus corpus = characters("bo\namy\nbo\n", "none", "line", true);
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 6);  // a b m o y <BOS>
  EXPECT_EQ(corpus.train().documents(), 3);      // in the order of the file, twins kept
  EXPECT_EQ(Ids(corpus.train().document(0).begin(), corpus.train().document(0).end()), (Ids{5, 1, 3, 5}));
  EXPECT_EQ(corpus.audit.parts[0].targets, 3 + 4 + 3);
}

TEST(StreamCorpus, HashKeepsTwinsOnlyWhenAsked) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += fmt::format("name{}\n", i % 15);
  const Corpus once = characters(text, "hash", "line"),
               twice = characters(text, "hash", "line", false, false);
  EXPECT_EQ(once.audit.documents(), 15);
  EXPECT_EQ(once.audit.duplicates, 15);
  EXPECT_THAT(once.audit.warnings, Contains(HasSubstr("15 documents dropped that repeat an earlier one")));
  EXPECT_EQ(twice.audit.documents(), 30);
  EXPECT_EQ(twice.audit.overlap, 0);  // twins have the same hash, so they share their part
}

TEST(StreamCorpus, AutoIsHashForSeveralDocumentsElseTail) {
  EXPECT_EQ(characters("one text\n\nof two paragraphs", "auto").audit.split, "tail");
  EXPECT_EQ(characters("one<|endoftext|>two", "auto").audit.split, "hash");
}

TEST(StreamCorpus, VocabularyHoldsTheCharactersOfValidationToo) {
  const Corpus corpus = characters(std::string(90, 'a') + std::string(10, 'z'), "tail");
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 2);
  EXPECT_EQ(corpus.validation().ids, Ids(10, 1));
}

TEST(StreamCorpus, UnknownCharactersOfAnotherTextAreNamed) {
  CorpusOptions options;
  options.announce = false;
  options.tokenizer = characters("abc", "none").tokenizer;
  DataSettings settings;
  settings.text = "abé";
  settings.split = "none";
  try {
    build_corpus(settings, options);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("data.text: document 1: text: character 3 (byte 2): 'é'"),
              std::string::npos)
        << refusal.what();
  }
}

TEST(StreamCorpus, WhiteSpaceIsCharacters) {
  EXPECT_EQ(characters("\n\n\n", "tail").tokenizer->vocab_size(), 1);
  EXPECT_THROW(characters(" \n\n", "none", "line"), Refusal);  // no line holds a document
}

Corpus merged(const std::string& text, const std::string& split, int64_t vocabulary) {
  DataSettings settings;
  settings.text = text;
  settings.tokenizer = "bpe";
  settings.vocabulary = vocabulary;
  settings.split = split;
  settings.documents = "separator";
  CorpusOptions options;
  options.announce = false;
  return build_corpus(settings, options);
}

TEST(StreamCorpus, BpeIsTrainedOnTheTrainingDocuments) {
  const Corpus corpus = merged("aab aab<|endoftext|>\nab <|end\xFF", "none", 260);
  EXPECT_EQ(corpus.tokenizer->kind(), "bpe");
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 260);  // 256 bytes, "a b", "a ab", one more merge, the end token
  const auto end = corpus.tokenizer->eos();
  ASSERT_EQ(end, 259);
  const auto& ids = corpus.train().ids;
  EXPECT_EQ(std::count(ids.begin(), ids.end(), *end), 2);  // one behind each document
  EXPECT_EQ(ids.back(), *end);
  EXPECT_EQ(ids[0], 257);
}

TEST(StreamCorpus, BpeLearnsNothingFromValidation) {
  const std::string train(36, 'z');
  const Corpus corpus = merged(train + "xyxy", "tail", 300);  // int(0.9 · 40) = 36 characters train
  EXPECT_EQ(corpus.tokenizer->decode(corpus.train().ids), train);
  EXPECT_EQ(corpus.tokenizer->decode(corpus.validation().ids), "xyxy");
  EXPECT_EQ(corpus.validation().ids.size(), 4u);  // bytes: "xy" was never merged
}

TEST(StreamCorpus, BpeWithTooLittleTextSaysSo) {
  const Corpus corpus = merged("ab", "none", 300);
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 258);
  ASSERT_FALSE(corpus.audit.notes.empty());
  EXPECT_NE(corpus.audit.notes.back().find("258 ids, fewer than the 300 asked for"), std::string::npos);
  EXPECT_THROW(merged("a", "tail", 300), Refusal);  // int(0.9) = 0 characters train
}

}  // namespace
}  // namespace tril
