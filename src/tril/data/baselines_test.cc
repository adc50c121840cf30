#include "tril/data/baselines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/data/corpus.h"
#include "tril/data/windows.h"

namespace tril {
namespace {

// Two documents over V = 4: "1 3 3 2" and "1 3 2". Targets: 3 3 2, 3 2, so N = 5, c(3) = 3, c(2) = 2.
// Pairs: (1,3) twice, (3,3) once, (3,2) twice. c(1) = 2, T(1) = 1; c(3) = 3, T(3) = 2.
const std::vector<int32_t> kIds = {1, 3, 3, 2, 1, 3, 2};
const std::vector<int64_t> kOffsets = {0, 4, 7};
const IdDocuments kTrain = {kIds, kOffsets};

TEST(Baselines, CountsByHand) {
  const Baselines baselines(kTrain, 4);
  EXPECT_DOUBLE_EQ(baselines.unigram(3), 4.0 / 9);
  EXPECT_DOUBLE_EQ(baselines.unigram(2), 3.0 / 9);
  EXPECT_DOUBLE_EQ(baselines.unigram(0), 1.0 / 9);
  EXPECT_DOUBLE_EQ(baselines.bigram(1, 3), (2 + 1 * 4.0 / 9) / 3);  // (c + T p) / (c(v) + T)
  EXPECT_DOUBLE_EQ(baselines.bigram(3, 2), (2 + 2 * 3.0 / 9) / 5);
  EXPECT_DOUBLE_EQ(baselines.bigram(3, 3), (1 + 2 * 4.0 / 9) / 5);
  EXPECT_DOUBLE_EQ(baselines.bigram(3, 0), (0 + 2 * 1.0 / 9) / 5);
  EXPECT_DOUBLE_EQ(baselines.bigram(2, 3), 4.0 / 9);  // 2 ends a document: nothing follows it
}

TEST(Baselines, LossesByHand) {
  const BaselineLosses losses = Baselines(kTrain, 4).losses(kTrain);
  EXPECT_EQ(losses.targets, 5);
  EXPECT_DOUBLE_EQ(losses.uniform, std::log(4.0));
  EXPECT_NEAR(losses.unigram, -(3 * std::log(4.0 / 9) + 2 * std::log(3.0 / 9)) / 5, 1e-15);
  const double p13 = 22.0 / 27, p33 = 17.0 / 45, p32 = 8.0 / 15;
  EXPECT_NEAR(losses.bigram, -(2 * std::log(p13) + std::log(p33) + 2 * std::log(p32)) / 5, 1e-15);
}

TEST(Baselines, NoTargetsGiveNaNAndUniformCounts) {
  const Baselines none({}, 4);
  EXPECT_DOUBLE_EQ(none.unigram(2), 0.25);
  EXPECT_DOUBLE_EQ(none.bigram(1, 2), 0.25);
  const BaselineLosses losses = none.losses({});
  EXPECT_EQ(losses.targets, 0);
  EXPECT_TRUE(std::isnan(losses.uniform) && std::isnan(losses.unigram) && std::isnan(losses.bigram));
  EXPECT_NEAR(none.losses(kTrain).bigram, std::log(4.0), 1e-15);
}

TEST(Baselines, ADocumentOfOneIdHasNoTargetAndNoneCrossesAnEnd) {
  const std::vector<int32_t> ids = {1, 1, 3};
  const std::vector<int64_t> offsets = {0, 1, 3};
  const Baselines baselines({ids, offsets}, 4);
  EXPECT_EQ(baselines.losses({ids, offsets}).targets, 1);
  EXPECT_DOUBLE_EQ(baselines.unigram(1), 1.0 / 5);  // the first 1 of the second document is no target
}

TEST(Baselines, AStreamCrossesTheEndsOfDocuments) {
  Tokens tokens;
  tokens.ids = kIds;
  tokens.starts = kOffsets;
  const Baselines baselines(stream_of(tokens), 4);
  EXPECT_EQ(baselines.losses(stream_of(tokens)).targets, 6);
  EXPECT_DOUBLE_EQ(baselines.unigram(1), 2.0 / 10);  // 2 → 1 is a target now
  EXPECT_DOUBLE_EQ(baselines.bigram(2, 1), (1 + 1 * 2.0 / 10) / 2);
  EXPECT_EQ(baselines.losses(documents_of(tokens)).targets, 5);
}

// The built-in tales, word by word: a bigram must know more than a unigram, and that more than nothing; and
// the targets are those of the windows.
TEST(Baselines, OnTalesLongerMemoryIsBetter) {
  DataSettings settings;
  settings.stories = 60;
  const Corpus corpus =
      build_corpus(settings, {.tokenizer = nullptr, .document_bounds = false, .announce = false});
  const Baselines baselines(documents_of(corpus.train()), corpus.tokenizer->vocab_size());
  for (const Tokens* part : {&corpus.train(), &corpus.validation()}) {
    const BaselineLosses losses = baselines.losses(documents_of(*part));
    EXPECT_EQ(losses.targets, Windows(*part, 12, 0).targets());
    EXPECT_LT(losses.bigram, losses.unigram);
    EXPECT_LT(losses.unigram, losses.uniform);
  }
}

// Each conditional distribution sums to 1, whatever was seen.
TEST(Baselines, ProbabilitiesSumToOne) {
  constexpr int32_t kVocabulary = 37;
  std::vector<int32_t> ids;
  uint32_t state = 1;
  for (int i = 0; i < 500; ++i) {
    state = state * 1664525u + 1013904223u;
    ids.push_back(static_cast<int32_t>((state >> 16) % 30));  // 30 … 36 are never seen
  }
  const std::vector<int64_t> offsets = {0, 200, 500};
  const Baselines baselines({ids, offsets}, kVocabulary);
  double unigrams = 0;
  for (int32_t w = 0; w < kVocabulary; ++w) unigrams += baselines.unigram(w);
  EXPECT_NEAR(unigrams, 1, 1e-12);
  for (int32_t v = 0; v < kVocabulary; ++v) {
    double sum = 0;
    for (int32_t w = 0; w < kVocabulary; ++w) sum += baselines.bigram(v, w);
    EXPECT_NEAR(sum, 1, 1e-12) << v;
  }
}

}  // namespace
}  // namespace tril
