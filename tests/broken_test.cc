// Each check can fail: programs built with one line broken must be caught by the rows that are there for it,
// and by no others.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "program.h"

namespace tril {
namespace {

/// The names of the failing rows: of the hand-worked example, of a window model, of a decoder.
using Rows = std::map<std::string, std::vector<std::string>>;

Rows failing_rows(const std::string& broken) {
  const ProgramResult result = run_program({}, {.program = std::string(TRIL_PROGRAM) + "_broken_" + broken});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Rows rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    rows[line.substr(0, colon)].push_back(line.substr(colon + 2));
  }
  return rows;
}

TEST(Broken, NothingFailsWhereNothingIsBroken) {
  EXPECT_EQ(failing_rows("nothing"), Rows{});
}
TEST(Broken, AMaskOffByOneShowsTheFuture) {
  EXPECT_EQ(failing_rows("mask"),
            (Rows{{"hand-worked",
                   {"masked_scores", "weights", "messages", "updates", "contextual", "future weight"}},
                  {"window", {"future weight", "weights by formula", "messages by formula", "causality"}},
                  {"decoder",
                   {"future weight", "weights by formula", "messages by formula", "causality",
                    "cached = uncached"}}}));
}
TEST(Broken, AnUnscaledScoreIsNotTheFormula) {
  EXPECT_EQ(
      failing_rows("scale"),
      (Rows{{"hand-worked", {"scores", "masked_scores", "weights", "messages", "updates", "contextual"}},
            {"window", {"weights by formula", "messages by formula"}},
            {"decoder", {"weights by formula", "messages by formula"}}}));
}
TEST(Broken, ASoftmaxOverTheWrongAxisDoesNotSumToOne) {
  EXPECT_EQ(failing_rows("softmax_axis"),
            (Rows{{"window",
                   {"row sums", "weights by formula", "messages by formula", "causality", "last query",
                    "order-blind", "stable softmax"}},
                  {"decoder",
                   {"row sums", "weights by formula", "messages by formula", "causality", "cached = uncached",
                    "stable softmax"}}}));
}
TEST(Broken, AMessageWithoutTheOwnValueIsNotTheFormula) {
  EXPECT_EQ(failing_rows("messages"), (Rows{{"window", {"messages by formula", "last query"}},
                                            {"decoder", {"messages by formula", "cached = uncached"}}}));
}
TEST(Broken, AnInfinityWhereAMaskedScoreStandsIsSeen) {
  EXPECT_EQ(failing_rows("finite"),
            (Rows{{"hand-worked", {"masked_scores"}}, {"window", {"finite"}}, {"decoder", {"finite"}}}));
}
// A single query that does not see itself: a window model's last query, and a decoder's step with a cache.
TEST(Broken, ALoneQueryMustSeeWhatItSeesAmongAll) {
  EXPECT_EQ(failing_rows("one_query"),
            (Rows{{"window", {"last query"}}, {"decoder", {"cached = uncached"}}}));
}
TEST(Broken, AnswersFromTheFirstRowAreNotThoseOfTheLast) {
  EXPECT_EQ(failing_rows("last_row"),
            (Rows{{"window", {"last query", "order-blind"}}, {"decoder", {"last query"}}}));
}
TEST(Broken, WithoutPositionsOrderMustBeLost) {
  EXPECT_EQ(failing_rows("order_seen"), (Rows{{"window", {"order-blind"}}}));
}
TEST(Broken, WithPositionsOrderMustBeSeen) {
  EXPECT_EQ(failing_rows("order_lost"), (Rows{{"window", {"order-blind"}}}));
}
TEST(Broken, WideFirstWeightsAreNoEvenGuess) {
  EXPECT_EQ(failing_rows("first_weights"), (Rows{{"window", {"first loss"}}, {"decoder", {"first loss"}}}));
}
// What such a fault does to training besides depends on what the vector library makes of huge exponents.
TEST(Broken, EverySoftmaxTakesTheLargestOffFirst) {
  for (const char* broken : {"softmax_shift", "attention_shift", "loss_shift", "head_loss_shift"}) {
    const Rows rows = failing_rows(broken);
    for (const char* family : {"window", "decoder"}) {
      ASSERT_EQ(rows.count(family), 1u) << broken << ": " << family;
      EXPECT_EQ(rows.at(family).front(), "stable softmax") << broken << ": " << family;
    }
  }
}
TEST(Broken, ADroppedGradientDiffersFromDifferences) {
  EXPECT_EQ(failing_rows("gradient_dropped"), (Rows{{"window", {"gradients, small", "gradients"}},
                                                    {"decoder", {"gradients, small", "gradients"}}}));
}
TEST(Broken, AnOverwrittenGradientDiffersFromDifferences) {
  EXPECT_EQ(failing_rows("gradient_overwritten"), (Rows{{"window", {"gradients, small", "gradients"}},
                                                        {"decoder", {"gradients, small", "gradients"}}}));
}
TEST(Broken, AnUpdateUphillLearnsNothing) {
  EXPECT_EQ(failing_rows("update"), (Rows{{"window", {"overfit"}}, {"decoder", {"overfit"}}}));
}

}  // namespace
}  // namespace tril
