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

TEST(Suggest, NothingIsNearNoName) {
  EXPECT_EQ(near_name("", std::vector<std::string>{"up"}), "");
  EXPECT_EQ(nearest_hint("", std::vector<std::string>{"up"}), "");
}

TEST(Suggest, ANameThatBeginsSoIsNear) {
  const std::vector<std::string> known = {"shakespeare-char", "microgpt", "microgpt-16", "--temperature"};
  EXPECT_EQ(near_name("shakes", known), "shakespeare-char");
  EXPECT_EQ(near_name("--temp", known), "--temperature");
  EXPECT_EQ(near_name("microg", known), "microgpt");  // the shortest that begins so
  EXPECT_EQ(near_name("sh", known), "");              // too short to mean anything
  EXPECT_EQ(near_name("--", known), "");
  EXPECT_EQ(near_name("", known), "");
}

}  // namespace
}  // namespace tril
