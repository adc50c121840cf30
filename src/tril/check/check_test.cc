#include "tril/check/check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tril/train/train_testing.h"

namespace tril {
namespace {

std::vector<CheckRow> check_fresh(const std::vector<std::string>& settings) {
  Config config = small_run(settings);
  const Corpus corpus = corpus_for(config);
  const std::unique_ptr<Model> model = fresh_model(config);
  return check_model({config, &corpus, model.get(), "fresh weights"});
}

std::vector<std::string> names(const std::vector<CheckRow>& rows) {
  std::vector<std::string> out;
  for (const CheckRow& row : rows) out.push_back(row.name);
  return out;
}

TEST(Check, EveryRowOfTheTeachingModelPasses) {
  for (const char* heads : {"model.heads=1", "model.heads=2"}) {
    const std::vector<CheckRow> rows = check_fresh({heads});
    EXPECT_EQ(names(rows), (std::vector<std::string>{"future weight", "row sums", "weights by formula",
                                                     "messages by formula", "causality", "last query",
                                                     "order-blind", "finite", "first loss", "stable softmax",
                                                     "gradients, small", "gradients", "overfit"}));
    for (const CheckRow& row : rows)
      EXPECT_TRUE(row.passed) << row.name << ": " << row.value << " limit " << row.limit << ", " << row.what;
  }
}

TEST(Check, WhatDoesNotApplyIsLeftOut) {
  const std::vector<CheckRow> rows = check_fresh({"model.family=window_mlp"});
  EXPECT_EQ(names(rows), (std::vector<std::string>{"finite", "first loss", "stable softmax",
                                                   "gradients, small", "gradients", "overfit"}));
  for (const CheckRow& row : rows)
    EXPECT_TRUE(row.passed) << row.name << ": " << row.value << ", " << row.what;
}

TEST(Check, ADecoderIsAlsoReadThroughItsCache) {
  const std::vector<CheckRow> rows = check_fresh({"model.family=decoder", "model.position=rotary"});
  EXPECT_EQ(names(rows), (std::vector<std::string>{
                             "future weight", "row sums", "weights by formula", "messages by formula",
                             "causality", "last query", "cached = uncached", "finite", "first loss",
                             "stable softmax", "gradients, small", "gradients", "overfit"}));
  for (const CheckRow& row : rows)
    EXPECT_TRUE(row.passed) << row.name << ": " << row.value << " limit " << row.limit << ", " << row.what;
}

TEST(Check, NotANumberNeverPasses) {
  EXPECT_FALSE(at_most("x", std::nan(""), 1, "").passed);
  EXPECT_FALSE(below("x", std::nan(""), 1, "").passed);
  EXPECT_TRUE(at_most("x", 1, 1, "").passed);
  EXPECT_FALSE(below("x", 1, 1, "").passed);
  EXPECT_TRUE(std::isnan(worse(worse(0, std::nan("")), 1)));  // once met, it stays
  EXPECT_EQ(worse(worse(0, 2), 1), 2);
}

}  // namespace
}  // namespace tril
