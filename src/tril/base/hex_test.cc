#include "tril/base/hex.h"

#include <gtest/gtest.h>

#include "tril/base/error.h"

namespace tril {
namespace {

TEST(Hex, ThereAndBack) {
  const std::string bytes("\x00\x7f\xff\x10", 4);
  EXPECT_EQ(to_hex(bytes), "007fff10");
  EXPECT_EQ(from_hex("007fff10", "here"), bytes);
  EXPECT_EQ(from_hex("", "here"), "");
}

TEST(Hex, RefusesWhatIsNotHex) {
  EXPECT_THROW(from_hex("0", "here"), Refusal);
  EXPECT_THROW(from_hex("0g", "here"), Refusal);
  EXPECT_THROW(from_hex("AB", "here"), Refusal);
}

}  // namespace
}  // namespace tril
