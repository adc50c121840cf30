#include "tril/plan/scaling.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "tril/base/file.h"
#include "tril/base/number.h"

namespace tril {
namespace {

constexpr Link kLink{1e-4, 1e8};

// Two ranks send each other half of 8 MB twice: 2 (1e-4 + 4e6 / 1e8) = 0.0802 s. One has nobody to send to.
// Four have two levels, and three buckets three times the messages: 2 (3 · 2e-4 + ¾ · 0.08).
TEST(PlanScaling, ASumSendsTwiceTheShareOfTheOthers) {
  EXPECT_DOUBLE_EQ(sum_seconds(2, 8e6, 1, kLink), 0.0802);
  EXPECT_DOUBLE_EQ(sum_seconds(4, 8e6, 3, kLink), 2 * (6e-4 + 0.06));
  EXPECT_EQ(sum_seconds(1, 8e6, 1, kLink), 0);
}

TEST(PlanScaling, TheLinkIsReadOffItsOwnFormula) {
  for (const int64_t ranks : {2, 4, 7}) {
    const Link found = fit_link(ranks, {{64, sum_seconds(ranks, 64, 1, kLink)},
                                        {1e6, sum_seconds(ranks, 1e6, 1, kLink)},
                                        {1e8, sum_seconds(ranks, 1e8, 1, kLink)}});
    EXPECT_NEAR(found.latency, kLink.latency, 1e-6);
    EXPECT_NEAR(found.bytes_per_second, kLink.bytes_per_second, 1e4);
  }
}

// A step of 0.1 + 0.01 · 32 alone; by 2 ranks the sum of 8 MB hides behind backward but for its last 1 MB.
TEST(PlanScaling, WhatBackwardHidesCostsNothing) {
  const RankStep step{.fixed = 0.1, .example = 0.01, .bytes = 8e6, .last_bytes = 1e6, .buckets = 2};
  EXPECT_DOUBLE_EQ(step_seconds(1, 32, step, kLink), 0.42);
  EXPECT_DOUBLE_EQ(step_seconds(2, 32, step, kLink), 0.1 + 0.16 + sum_seconds(2, 1e6, 1, kLink) + 4e-4);
  // A link ten times slower: 0.8004 s of sums, two thirds of 0.16 s beside backward.
  const Link slow{1e-4, 1e7};
  EXPECT_DOUBLE_EQ(step_seconds(2, 32, step, slow),
                   0.1 + 0.16 + sum_seconds(2, 8e6, 2, slow) - 2.0 / 3 * 0.16 + 4e-4);
}

using Row = std::vector<std::string>;

// The rows of the page's table whose header begins so.
std::vector<Row> table(const std::string& header) {
  std::vector<Row> rows;
  std::istringstream page(read_file(TRIL_SOURCE_DIR "/docs/scaling.md"));
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind(header, 0) == 0) {
      inside = true;
      std::getline(page, line);  // the rule below it
    } else if (inside && line.rfind("| ", 0) == 0) {
      Row cells;
      std::istringstream text(line.substr(1));
      for (std::string cell; std::getline(text, cell, '|');)
        cells.push_back(cell.substr(1, cell.find_last_not_of(' ')));
      rows.push_back(cells);
    } else {
      inside = false;
    }
  }
  return rows;
}

double number(const std::string& text) {
  return parse_real(text).value();
}

void expect_model(const Row& row, size_t measured, double seconds) {
  const double told = number(row[measured + 1]), model = 1e3 * seconds;
  EXPECT_NEAR(told, model, 0.5 + 0.02 * model) << row[0] << " " << row[1] << " " << row[measured];
  EXPECT_NEAR(told / number(row[measured]), 1, 0.5) << row[0] << " " << row[1] << " " << row[measured];
}

// Every sum and step that the page predicts, from the page's own constants; and that it is within half of
// what was measured.
TEST(PlanScaling, ThePagesPredictionsAreTheFormulas) {
  const std::vector<Row> sums = table("| link | ranks | α, us"), rank = table("| fixed, ms"),
                         steps = table("| link | ranks | batch");
  ASSERT_EQ(rank.size(), 1U);
  ASSERT_GE(sums.size(), 6U);
  ASSERT_GE(steps.size(), 2U);
  std::map<std::string, Link> links;
  for (const Row& row : sums) {
    const Link link = links[row[0] + row[1]] = {number(row[2]) * 1e-6, number(row[3]) * 1e6};
    expect_model(row, 5, sum_seconds(static_cast<int64_t>(number(row[1])), number(row[4]) * 1e6, 1, link));
  }
  for (const Row& row : steps) {
    const double bytes = number(row[3]) * 1e6;
    const RankStep step{number(rank[0][0]) / 1e3, number(rank[0][1]) / 1e3, bytes, bytes, 1};
    expect_model(
        row, 4,
        step_seconds(static_cast<int64_t>(number(row[1])), number(row[2]), step, links.at(row[0] + row[1])));
  }
}

TEST(PlanScaling, ThePagesClustersAreTheFormulas) {
  const std::vector<Row> node = table("| a step, ms"), clusters = table("| link | α, us | β, MB/s | nodes");
  ASSERT_EQ(node.size(), 1U);
  ASSERT_EQ(clusters.size(), 9U);
  const RankStep step{number(node[0][0]) / 1e3, number(node[0][1]) / 1e3, number(node[0][2]) * 1e6,
                      number(node[0][3]) * 1e6, static_cast<int64_t>(number(node[0][4]))};
  for (const Row& row : clusters) {
    const Link link{number(row[1]) * 1e-6, number(row[2]) * 1e6};
    const auto nodes = static_cast<int64_t>(number(row[3]));
    const double batch = number(row[4]), seconds = step_seconds(nodes, batch, step, link);
    EXPECT_NEAR(number(row[5]), seconds, 1e-3) << row[0] << " " << row[3];
    const double own = step.fixed + step.example * batch / static_cast<double>(nodes);
    EXPECT_NEAR(number(row[6]), seconds - own, 1e-3) << row[0] << " " << row[3];
    EXPECT_NEAR(number(row[7]), step_seconds(1, batch, step, link) / seconds, 0.06)
        << row[0] << " " << row[3];
  }
}

}  // namespace
}  // namespace tril
