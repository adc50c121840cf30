#include "tril/base/json_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "tril/base/error_testing.h"

namespace tril {
namespace {

TEST(JsonDepth, CountsWhatIsOpenAtOnce) {
  EXPECT_EQ(json_depth(""), 0u);
  EXPECT_EQ(json_depth("3"), 0u);
  EXPECT_EQ(json_depth("{}"), 1u);
  EXPECT_EQ(json_depth(R"([[], [], {"a": [1]}])"), 3u);
  EXPECT_EQ(json_depth("]]]]["), 1u);  // not JSON, and not below nothing
}

TEST(JsonDepth, PassesOverStrings) {
  EXPECT_EQ(json_depth(R"({"[[[[": "{{{{"})"), 1u);
  EXPECT_EQ(json_depth(R"(["\"[[", "\\", [["x"]]])"), 3u);
  for (const char* open : {"[\"[[", "[\"[[\\", "[\"[[\\\""})  // strings that never end
    EXPECT_EQ(json_depth(open), 1u) << open;
}

TEST(JsonDepth, RefusesBeyondItsLimit) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(refusal_of([&] { require_parsable(nested(200), "x.json"); }), "");
  EXPECT_EQ(refusal_of([&] { require_parsable(nested(201), "x.json"); }),
            "x.json: is nested more than 200 levels deep");
  EXPECT_EQ(refusal_of([] { require_parsable(std::string_view("{}\0{", 4), "x.json"); }),
            "x.json: byte 2: a zero byte, which JSON has not");
}

}  // namespace
}  // namespace tril
