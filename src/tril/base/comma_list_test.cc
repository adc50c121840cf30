#include "tril/base/comma_list.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

using Words = std::vector<std::string>;

TEST(CommaList, BlanksAroundAWordAreNoneOfIt) {
  EXPECT_EQ(comma_list("a"), (Words{"a"}));
  EXPECT_EQ(comma_list(" a b ,c,  d"), (Words{"a b", "c", "d"}));
}

TEST(CommaList, EmptyWordsAreKeptAndNothingHasNone) {
  EXPECT_EQ(comma_list(""), Words{});
  EXPECT_EQ(comma_list(" "), (Words{""}));
  EXPECT_EQ(comma_list(","), (Words{"", ""}));
  EXPECT_EQ(comma_list("a,,b,"), (Words{"a", "", "b", ""}));
}

}  // namespace
}  // namespace tril
