#include "tril/base/suggest.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Suggest, Distances) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);  // k→s, e→i, +g
  EXPECT_EQ(edit_distance("heads_", "heads"), 1);
  EXPECT_EQ(edit_distance("ab", "ba"), 1);
}

TEST(Suggest, Nearest) {
  const std::vector<std::string> known = {"activation", "heads", "layers"};
  EXPECT_EQ(nearest_name("actvation", known), "activation");
  EXPECT_EQ(nearest_hint("heads_", known), "; the nearest is 'heads'");
  EXPECT_EQ(nearest_hint("zzzzzzzzzzz", known), "");
  EXPECT_EQ(nearest_name("x", std::vector<std::string>{}), "");
}

}  // namespace
}  // namespace tril
