#include "tril/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <thread>

namespace tril {
namespace {

TEST(Interrupt, FirstSignalSetsTheFlag) {
  const interrupt::Guard guard;
  EXPECT_FALSE(interrupt::requested());
  EXPECT_EQ(interrupt::exit_code(), 0);
  ::raise(SIGINT);
  EXPECT_TRUE(interrupt::requested());
  EXPECT_EQ(interrupt::exit_code(), 130);
  interrupt::clear();
  ::raise(SIGTERM);
  EXPECT_EQ(interrupt::exit_code(), 143);
  interrupt::clear();
  EXPECT_FALSE(interrupt::requested());
}

int status_after(int first, int second) {
  const pid_t child = ::fork();
  if (child == 0) {
    const interrupt::Guard guard;
    ::raise(first);
    if (!interrupt::requested()) ::_exit(1);
    ::raise(second);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(Interrupt, SecondSignalEndsAtOnce) {
  EXPECT_EQ(status_after(SIGINT, SIGINT), 130);
  EXPECT_EQ(status_after(SIGINT, SIGTERM), 143);
  EXPECT_EQ(status_after(SIGTERM, SIGTERM), 143);
}

TEST(Interrupt, CheckThrowsInItsOwnThreadAndNotWhilePostponed) {
  const interrupt::Guard outer(interrupt::Ignored::kStays);
  interrupt::check();
  {
    const interrupt::Guard inner;
    ::raise(SIGTERM);
  }
  {
    const interrupt::Postpone postponed;
    const interrupt::Postpone twice;
    EXPECT_NO_THROW(interrupt::check());
  }
  std::thread([] { EXPECT_NO_THROW(interrupt::check()); }).join();
  try {
    interrupt::check();
    FAIL();
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.exit_code(), 143);
  }
  interrupt::clear();
  EXPECT_NO_THROW(interrupt::check());
}

// What does not answer is ended after kPatience seconds, what is postponed is not.
TEST(Interrupt, WorkThatNeverAsksIsEnded) {
  const auto status = [](bool postponed) {
    const pid_t child = ::fork();
    if (child == 0) {
      const interrupt::Guard guard;
      std::optional<interrupt::Postpone> postpone;
      if (postponed) postpone.emplace();
      ::raise(SIGINT);
      ::raise(SIGALRM);  // as after the time has gone by
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(status(false), 130);
  EXPECT_EQ(status(true), 0);
}

TEST(Interrupt, AnIgnoredSignalStaysIgnoredWhereAsked) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_IGN);
    const interrupt::Guard guard(interrupt::Ignored::kStays);
    ::raise(SIGINT);
    if (interrupt::requested()) ::_exit(1);
    const interrupt::Guard taken;
    ::raise(SIGINT);
    ::_exit(interrupt::requested() ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Interrupt, SignalsActAsBeforeWithoutTheGuard) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGINT, SIG_DFL);  // a shell starts what it puts in the background with SIGINT ignored
    { const interrupt::Guard guard; }
    ::raise(SIGINT);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace tril
