#include "tril/base/read_stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "tril/base/error.h"
#include "tril/base/folder_testing.h"

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

// Who waits for a pipe's writer is told so; a pipe that has one already is not a name to wait for.
TEST_F(ReadStream, ANamedPipeIsWaitedForWithANote) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto note_of = [](const std::string& name) {
    testing::internal::CaptureStderr();
    const int descriptor = open_to_read(name);
    EXPECT_GE(descriptor, 0) << name;
    ::close(descriptor);
    return testing::internal::GetCapturedStderr();
  };
  std::thread writer([&] { ::close(::open(path.c_str(), O_WRONLY)); });
  EXPECT_EQ(note_of(path), "waiting for " + path + "\n");
  writer.join();
  EXPECT_EQ(note_of("/proc/self/fd/" + std::to_string(ends_[0])), "");
  EXPECT_EQ(note_of("/dev/null"), "");
}

TEST_F(ReadStream, AFaultIsNamed) {
  EXPECT_THROW(read_stream(-1, "pipe"), Refusal);
}

}  // namespace
}  // namespace tril
