#include "tril/base/quote.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Quote, PlainNamesStayAsTheyAre) {
  EXPECT_EQ(in_quotes("blocks.0.weights"), "'blocks.0.weights'");
  EXPECT_EQ(in_quotes("été"), "'été'");
  EXPECT_EQ(in_quotes(""), "''");
}

TEST(Quote, ControlCharactersAreEscaped) {
  EXPECT_EQ(in_quotes("a\n\x1b[31m\\"), "'a\\n\\x1b[31m\\\\'");
}

TEST(Quote, LongNamesAreCutBetweenCharacters) {
  EXPECT_EQ(in_quotes(std::string(81, 'x')), "'" + std::string(80, 'x') + "...' (81 bytes)");
  EXPECT_EQ(in_quotes(std::string(79, 'x') + "éé"), "'" + std::string(79, 'x') + "...' (83 bytes)");
}

}  // namespace
}  // namespace tril
