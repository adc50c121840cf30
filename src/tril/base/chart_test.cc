#include "tril/base/chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace tril {
namespace {

ChartOptions small(bool unicode) {
  ChartOptions options;
  options.title = "loss";
  options.x_label = "step";
  options.width = 33;  // 30 columns of plot beside "4 +"
  options.height = 5;  // rows at y = 4, 3, 2, 1, 0
  options.unicode = unicode;
  return options;
}
const std::vector<ChartSeries> kTwo = {{"fall", {{0, 4}, {15, 2}, {30, 0}}}, {"flat", {{0, 1}, {30, 1}}}};

TEST(Chart, AsciiPutsPointsAtTheirRowsAndColumns) {
  EXPECT_EQ(chart(kTwo, {{"level", 3}}, small(false)),
            "loss\n"
            "4 +*...\n"
            "  |------------------------------\n"
            "2 +            ...*...\n"
            "  |o............................o\n"
            "0 +                          ...*\n"
            "  ++---------+--------+---------+\n"
            "   0        10       20        30  step\n"
            "* fall   o flat   - level 3.000\n");
}

TEST(Chart, UnicodeDrawsTheLinesInBraille) {
  EXPECT_EQ(chart(kTwo, {{"level", 3}}, small(true)),
            "loss\n"
            "4 ┤●⠒⠢⠤⢄⣀\n"
            "  │╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌\n"
            "2 ┤            ⠈⠉⠑●⠤⢄⣀\n"
            "  │○⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠭⠵⠶⠤⣤⡤⠤⠤⠤⠤○\n"
            "0 ┤                        ⠈⠉⠒⠢⠤●\n"
            "  └┬─────────┬────────┬─────────┬\n"
            "   0        10       20        30  step\n"
            "● fall   ○ flat   ╌ level 3.000\n");
}

TEST(Chart, OnePointAndEqualPointsStillHaveAxes) {
  const std::string text = chart({{"one", {{7, 2}}}}, {}, small(false));
  EXPECT_NE(text.find("2 +               *\n"), std::string::npos) << text;
  EXPECT_NE(chart({{"same", {{7, 2}, {7, 2}}}}, {}, small(true)).find("●"), std::string::npos);
}

TEST(Chart, WhatIsNotFiniteIsLeftOut) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const std::vector<ChartSeries> holed = {{"fall", {{0, 4}, {5, nan}, {15, 2}, {infinity, 1}, {30, 0}}},
                                          kTwo[1]};
  EXPECT_EQ(chart(holed, {{"level", 3}, {"none", nan}}, small(false)),
            chart(kTwo, {{"level", 3}}, small(false)));
  EXPECT_EQ(chart({{"none", {{0, nan}}}}, {}, small(false)), "loss\n(no points to draw)\n");
  EXPECT_EQ(chart({}, {{"level", 3}}, ChartOptions{}), "(no points to draw)\n");
}

TEST(Chart, AsciiIsAsciiAndNoLineIsWiderThanAsked) {
  ChartSeries dense{"dense", {}};
  for (int i = 0; i <= 5000; ++i) dense.points.push_back({i * 256.0, 1e-3 * std::cos(i / 100.0)});
  for (const int width : {30, 76, 200}) {
    ChartOptions options;
    options.width = width;
    const std::string text = chart({dense}, {}, options);
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
      EXPECT_LE(end - begin, static_cast<size_t>(width) + 8) << text;  // a last tick's label may stand out
    for (const char c : text) ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  }
}

TEST(Chart, TicksAreRoundNumbers) {
  const std::string text = chart({{"loss", {{0, 7.312}, {76800, 2.951}}}}, {}, ChartOptions{});
  for (const char* tick : {"7 +", "6 +", "5 +", "4 +", "3 +", "20k", "40k", "60k"})
    EXPECT_NE(text.find(tick), std::string::npos) << tick << "\n" << text;
}

TEST(Chart, AFileIsNoUnicodeTerminal) {
  FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(unicode_terminal(fileno(file)));
  std::fclose(file);
}

}  // namespace
}  // namespace tril
