#include "tril/base/read_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tril/base/error.h"

namespace tril {
namespace {

class ReadStream : public testing::Test {
 protected:
  ReadStream() {
    EXPECT_EQ(::pipe(ends_), 0);
    EXPECT_EQ(::write(ends_[1], "0123456789", 10), 10);
  }
  ~ReadStream() override {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  int ends_[2];
};

TEST_F(ReadStream, BringsAllUntilTheEnd) {
  ::close(ends_[1]);
  ends_[1] = -1;
  EXPECT_EQ(read_stream(ends_[0], "pipe", 10), "0123456789");
  EXPECT_EQ(read_stream(ends_[0], "pipe"), "");
}

TEST_F(ReadStream, StopsAtItsLimitWhereNoEndIsInSight) {
  try {
    read_stream(ends_[0], "pipe", 5);  // the other end stays open
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_STREQ(refusal.what(), "pipe: over 5 bytes have come and no end; write the text to a file first");
  }
}

TEST_F(ReadStream, AFaultIsNamed) {
  EXPECT_THROW(read_stream(-1, "pipe"), Refusal);
}

}  // namespace
}  // namespace tril
