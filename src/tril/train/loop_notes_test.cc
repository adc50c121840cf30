#include "tril/train/loop_notes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tril {
namespace {

std::string warnings(const nlohmann::ordered_json& there, int ranks) {
  testing::internal::CaptureStderr();
  tell_platform("state.json", there, ranks);
  return testing::internal::GetCapturedStderr();
}

TEST(LoopNotes, WhatDiffersIsWarnedOfByNameWithBothValues) {
  nlohmann::ordered_json there = platform(2);
  EXPECT_EQ(warnings(there, 2), "");
  EXPECT_EQ(
      warnings(there, 1),
      "warning: state.json: trained so far with ranks 2, this is 1: the bits of the next steps may differ\n");
  there["version"] = "0.0.1";
  EXPECT_NE(warnings(there, 2).find("trained so far with version \"0.0.1\""), std::string::npos);
}

TEST(LoopNotes, AStateWithoutRanksIsOfOne) {
  nlohmann::ordered_json there = platform(1);
  there.erase("ranks");
  EXPECT_EQ(warnings(there, 1), "");
  EXPECT_NE(warnings(there, 4).find("ranks 1, this is 4"), std::string::npos);
}

}  // namespace
}  // namespace tril
