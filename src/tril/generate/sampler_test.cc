#include "tril/generate/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tril/base/error.h"

namespace tril {
namespace {

const std::vector<double> kLogits = {std::log(1.0), std::log(4.0), std::log(3.0), std::log(2.0)};

std::vector<double> with(SamplingRules rules, std::vector<int32_t> never = {},
                         std::vector<int32_t> seen = {}) {
  return distribution(kLogits, rules, never, seen);
}
void expect(const std::vector<double>& got, std::vector<double> want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << i;
}

TEST(Sampler, PlainIsSoftmax) {
  expect(with({}), {.1, .4, .3, .2});
}
TEST(Sampler, TemperatureHalfSquaresTheOdds) {
  expect(with({.temperature = 0.5}), {1 / 30.0, 16 / 30.0, 9 / 30.0, 4 / 30.0});
}
// Case 27.
TEST(Sampler, TemperatureZeroIsGreedyAndEqualsGoToTheLowestId) {
  expect(with({.temperature = 0}), {0, 1, 0, 0});
  expect(distribution(std::vector<double>{1, 2, 2}, {.temperature = 0}, {}, {}), {0, 1, 0});
}
TEST(Sampler, TinyTemperatureDoesNotOverflow) {
  expect(with({.temperature = 1e-300}), {0, 1, 0, 0});
}
// Case 28.
TEST(Sampler, TopKFromOffToBeyondTheVocabulary) {
  expect(with({.top_k = 0}), {.1, .4, .3, .2});
  expect(with({.top_k = 1}), {0, 1, 0, 0});
  expect(with({.top_k = 2}), {0, 4 / 7.0, 3 / 7.0, 0});
  expect(with({.top_k = 4}), {.1, .4, .3, .2});
  expect(with({.top_k = 5}), {.1, .4, .3, .2});
  expect(distribution(std::vector<double>{0, 0, 0}, {.top_k = 2}, {}, {}), {.5, .5, 0});
}
TEST(Sampler, TopPKeepsTheFewestThatReachIt) {
  expect(with({.top_p = 0.3}), {0, 1, 0, 0});
  expect(with({.top_p = 0.5}), {0, 4 / 7.0, 3 / 7.0, 0});
  expect(with({.top_p = 1e-12}), {0, 1, 0, 0});
}
TEST(Sampler, MinPIsAShareOfTheLargest) {
  expect(with({.min_p = 0.6}), {0, 4 / 7.0, 3 / 7.0, 0});
}
TEST(Sampler, RepetitionPenaltyMovesSeenTokensDown) {
  // ln 4 / 2 = ln 2 for id 1; ln 1 = 0 stays.
  expect(with({.repetition_penalty = 2}, {}, {1, 1, 0}), {1 / 8.0, 2 / 8.0, 3 / 8.0, 2 / 8.0});
  expect(distribution(std::vector<double>{-1, 0}, {.repetition_penalty = 2}, {}, std::vector<int32_t>{0}),
         {std::exp(-2) / (1 + std::exp(-2)), 1 / (1 + std::exp(-2))});
}
// Case 31, of the choice alone.
TEST(Sampler, ForbiddenIdsCanNotBeDrawn) {
  const std::vector<double> p = with({}, {1, 2});
  expect(p, {1 / 3.0, 0, 0, 2 / 3.0});
  for (int i = 0; i < 1000; ++i) {
    const int32_t id = pick(p, i / 1000.0);
    EXPECT_TRUE(id == 0 || id == 3);
  }
}
TEST(Sampler, PickWalksTheRunningSum) {
  const std::vector<double> p = {.25, 0, .5, .25};
  EXPECT_EQ(pick(p, 0), 0);
  EXPECT_EQ(pick(p, .2499), 0);
  EXPECT_EQ(pick(p, .25), 2);
  EXPECT_EQ(pick(p, .7499), 2);
  EXPECT_EQ(pick(p, .75), 3);
  EXPECT_EQ(pick(std::vector<double>{.5, .4999999999, 0}, .99999999999), 1);
}
TEST(Sampler, OneSymbol) {
  expect(distribution(std::vector<double>{-5}, {.top_k = 3, .top_p = .1}, {}, {}), {1});
}

TEST(Sampler, RulesOutsideTheirRangeAreRefused) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (SamplingRules r : {SamplingRules{.temperature = -1},
                          {.temperature = nan},
                          {.temperature = inf},
                          {.top_k = -1},
                          {.top_p = 0},
                          {.top_p = 1.5},
                          {.top_p = nan},
                          {.min_p = 1},
                          {.min_p = -0.1},
                          {.repetition_penalty = 0},
                          {.repetition_penalty = nan}})
    EXPECT_THROW(require_rules(r), Refusal);
  EXPECT_NO_THROW(require_rules({.temperature = 0, .top_k = 7, .top_p = 1, .min_p = 0}));
}

TEST(Sampler, BrokenLogitsAreRefused) {
  EXPECT_THROW(distribution(std::vector<double>{0, std::nan("")}, {}, {}, {}), Refusal);
  EXPECT_THROW(distribution(std::vector<double>{0}, {}, std::vector<int32_t>{0}, {}), Refusal);
}

}  // namespace
}  // namespace tril
