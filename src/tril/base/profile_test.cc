#include "tril/base/profile.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tril/base/threads.h"

namespace tril {
namespace {

// phase { a { b } b }: a's own time is its length without the b inside.
TEST(Profile, SpansNestAndOwnTimeLeavesOutWhatIsInside) {
  Profile profile(1);
  profile.start();
  const int phase = profile.label("phase", ""), a = profile.label("a", "[2]"), b = profile.label("b", "[3]");
  profile.begin(phase, Profile::Kind::phase);
  profile.begin(a, Profile::Kind::forward);
  profile.begin(b, Profile::Kind::forward);
  profile.end(8);
  profile.end(24);
  profile.begin(b, Profile::Kind::backward);
  profile.end(0);
  profile.end(0);
  profile.stop();
  const auto& spans = profile.spans();
  ASSERT_EQ(spans.size(), 4U);
  const Profile::Span inner = spans[0], outer = spans[1], back = spans[2], whole = spans[3];
  EXPECT_EQ(outer.own, outer.duration - inner.duration);
  EXPECT_EQ(inner.own, inner.duration);
  EXPECT_EQ(whole.own, whole.duration - outer.duration - back.duration);
  EXPECT_EQ(inner.depth, 2);
  EXPECT_EQ(whole.depth, 0);
  EXPECT_LE(outer.start, inner.start);
  EXPECT_LE(inner.start + inner.duration, outer.start + outer.duration);
  EXPECT_LE(whole.start + whole.duration, profile.duration());
  EXPECT_EQ(Profile::active(), nullptr);

  const std::vector<ProfileRow> rows = dearest_ops(profile, 5);
  ASSERT_EQ(rows.size(), 3U);  // a, b forward, b backward
  std::map<std::string, int64_t> bytes;
  for (const ProfileRow& row : rows) bytes[row.name] += row.bytes;
  EXPECT_EQ(bytes["a"], 24);
  EXPECT_EQ(bytes["b"], 8);
  EXPECT_EQ(dearest_ops(profile, 1).size(), 1U);
  EXPECT_GE(rows[0].own, rows[1].own);
}

TEST(Profile, NothingIsKeptWhereNoneIsActive) {
  const ProfilePhase phase("unseen");
  EXPECT_EQ(Profile::active(), nullptr);
}

TEST(Profile, TheTraceIsJsonWithAnEventForEachSpan) {
  Profile profile(threads());
  profile.start();
  {
    const ProfilePhase phase("forward");
    profile.begin(profile.label("lin\"ear", "x [2, 3]"), Profile::Kind::forward);
    profile.end(64);
  }
  parallel_for(64, [](int64_t) {});
  profile.stop();
  const auto trace = nlohmann::json::parse(profile_json(profile, "one step"));
  std::map<std::string, nlohmann::json> by_name;
  int64_t pieces = 0;
  for (const auto& event : trace.at("traceEvents")) {
    by_name[event.at("name")] = event;
    if (event["name"] == "pieces") pieces += event["args"]["pieces"].get<int64_t>();
  }
  EXPECT_EQ(by_name["lin\"ear"]["args"]["shapes"], "x [2, 3]");
  EXPECT_EQ(by_name["lin\"ear"]["args"]["bytes_taken"], 64);
  EXPECT_EQ(by_name["lin\"ear"]["cat"], "forward");
  EXPECT_EQ(by_name["forward"]["cat"], "phase");
  EXPECT_EQ(pieces, threads() > 1 ? 64 : 0);  // every piece is in some thread's track
}

}  // namespace
}  // namespace tril
