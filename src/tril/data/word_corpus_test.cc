// Words in windows, from inline text to ids.
#include <fmt/core.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

#include "tril/base/error.h"
#include "tril/base/error_testing.h"
#include "tril/data/corpus.h"

namespace tril {
namespace {

using Ids = std::vector<int32_t>;
using testing::Contains;
using testing::HasSubstr;

Corpus words(const std::string& text, int64_t min_count = 1, const std::string& split = "none") {
  DataSettings settings;
  settings.text = text;
  settings.min_count = min_count;
  settings.split = split;
  CorpusOptions options;
  options.announce = false;
  return build_corpus(settings, options);
}

TEST(WordCorpus, DocumentsStandBetweenBosAndEos) {
  const Corpus corpus = words("b a b\n\nA c.");
  // Counts: a 2, b 2, . 1, c 1.
  EXPECT_EQ(corpus.train().ids, (Ids{1, 5, 4, 5, 2, 1, 4, 7, 6, 2}));
  EXPECT_EQ(corpus.train().starts, (std::vector<int64_t>{0, 5, 10}));
  EXPECT_EQ(corpus.train().text_bytes, 5 + 4);  // "b a b", "a c."
  EXPECT_EQ(corpus.audit.parts[0].tokens, 6);
  EXPECT_EQ(corpus.audit.parts[0].targets, 8);
  EXPECT_EQ(corpus.audit.lengths.shortest, 3);
}

TEST(WordCorpus, DuplicatesAreRemovedByNormalizedText) {
  const Corpus corpus = words("One  day.\n\none day.\n\nother\n\nONE\nDAY.", 1, "hash");
  EXPECT_EQ(corpus.audit.duplicates, 2);
  EXPECT_EQ(corpus.audit.documents(), 2);
  EXPECT_THAT(
      corpus.audit.warnings,
      Contains("data.text: 2 documents dropped that repeat an earlier one (data.dedupe = false keeps them)"));
}

TEST(WordCorpus, DocumentsWithoutAWordAreCountedInAWarning) {
  const Corpus corpus = words("one<|endoftext|> <|endoftext|>___<|endoftext|>two", 1, "none");
  EXPECT_EQ(corpus.audit.empty_documents, 2);
  EXPECT_THAT(corpus.audit.warnings, Contains("data.text: 2 documents without text dropped"));
}

TEST(WordCorpus, DocumentsAreSortedByIdWithinAPart) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += fmt::format("document {}\n\n", i);
  const Corpus corpus = words(text, 1, "hash");
  EXPECT_EQ(corpus.audit.documents(), 50);
  EXPECT_EQ(corpus.audit.overlap, 0);
  for (const Tokens& part : corpus.parts) {
    EXPECT_TRUE(std::is_sorted(part.document_ids.begin(), part.document_ids.end()));
    EXPECT_EQ(static_cast<int64_t>(part.document_ids.size()), part.documents());
  }
  EXPECT_GT(corpus.validation().documents(), 0);
  EXPECT_GT(corpus.test().documents(), 0);
}

TEST(WordCorpus, VocabularyComesFromTrainingAlone) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("only {} x\n\n", i);
  const Corpus corpus = words(text, 1, "hash");
  EXPECT_EQ(corpus.audit.parts[0].unknown, 0);
  EXPECT_GT(corpus.audit.parts[1].unknown, 0);  // numbers that training never saw
}

TEST(WordCorpus, OneWordIsEnough) {
  const Corpus corpus = words("hello", 2, "hash");
  EXPECT_EQ(corpus.train().ids, (Ids{1, 4, 2}));
  EXPECT_EQ(corpus.tokenizer->token_text(4), "hello");
  // min_count 2 would leave nothing; validation and test are empty.
  EXPECT_THAT(testing::PrintToString(corpus.audit.warnings), HasSubstr("data.min_count is 1"));
  EXPECT_THAT(testing::PrintToString(corpus.audit.warnings), HasSubstr("no validation documents"));
  EXPECT_THAT(testing::PrintToString(corpus.audit.warnings), HasSubstr("no test documents"));
}

TEST(WordCorpus, SomethingAlwaysTrains) {
  // "1" … each alone would go to its own part; whatever the hash says, one document trains.
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(words(fmt::format("w{}", i), 1, "hash").train().documents(), 1) << i;
  }
}

TEST(WordCorpus, NoWordIsRefused) {
  EXPECT_EQ(refusal_of([] { words("   \n\t\n"); }), "data.text: no trainable text: it holds no word");
  EXPECT_EQ(refusal_of([] { words("___"); }), "data.text: no trainable text: it holds no word");
}

TEST(WordCorpus, UnderscoresAreCounted) {
  const Corpus corpus = words("a_b __ c\n\n_");
  EXPECT_EQ(corpus.audit.uncovered.at("_"), 4);
  EXPECT_EQ(corpus.audit.empty_documents, 1);  // "_" alone
  EXPECT_THAT(testing::PrintToString(corpus.audit.warnings), HasSubstr("4 times '_' dropped"));
}

TEST(WordCorpus, VocabularyCapAboveTheTextsIsSaid) {
  DataSettings settings;
  settings.text = "a a b b";
  settings.split = "none";
  settings.vocabulary = 1500;
  CorpusOptions options;
  options.announce = false;
  const Corpus corpus = build_corpus(settings, options);
  EXPECT_EQ(corpus.tokenizer->vocab_size(), 6);
  EXPECT_THAT(testing::PrintToString(corpus.audit.notes), HasSubstr("the vocabulary has 6 ids, not 1,500"));
  settings.vocabulary = 5;  // the four specials and one word
  EXPECT_EQ(build_corpus(settings, options).tokenizer->vocab_size(), 5);
  settings.vocabulary = 4;
  EXPECT_THROW(build_corpus(settings, options), Refusal);
}

TEST(WordCorpus, ScriptsWithoutSpacesAreWarnedOf) {
  EXPECT_THAT(testing::PrintToString(words("我喜欢小狐狸今天天气很好。雪が降る。").audit.warnings),
              HasSubstr("without spaces between words"));
  EXPECT_THAT(testing::PrintToString(words("plain words").audit.warnings), testing::Not(HasSubstr("spaces")));
}

TEST(WordCorpus, LiteralSpecialsStayText) {
  const Corpus corpus = words("<EOS><PAD> <BOS>");
  for (const int32_t id : std::span(corpus.train().ids).subspan(1, corpus.train().ids.size() - 2))
    EXPECT_GT(id, 3);
}

}  // namespace
}  // namespace tril
