#include "tril/base/lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "tril/base/error.h"

namespace tril {
namespace {

std::string lock_path() {
  return testing::TempDir() + "/tril_lock_" + std::to_string(::getpid()) + "_" +
         testing::UnitTest::GetInstance()->current_test_info()->name();
}

TEST(Lock, LivingOwnerIsNamedAndTheFileGoesWithIt) {
  const std::string path = lock_path();
  {
    const LockFile lock(path, "runs/a");
    EXPECT_FALSE(lock.taken_over());
    try {
      const LockFile second(path, "runs/a");
      FAIL() << "two owners";
    } catch (const Refusal& refusal) {
      EXPECT_EQ(
          std::string(refusal.what()),
          fmt::format("runs/a: is in use by process {}; wait until it has ended, or stop it", ::getpid()));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Lock, DeadOwnerIsFollowed) {
  const std::string path = lock_path();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto* lock = new LockFile(path, "runs/a");
    (void)lock;
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    ::pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_THROW(LockFile(path, "runs/a"), Refusal);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(std::filesystem::exists(path));
  const LockFile lock(path, "runs/a");
  EXPECT_TRUE(lock.taken_over());
  EXPECT_EQ(lock.former_owner(), child);
  ::close(ready[0]);
  ::close(ready[1]);
}

// A number left in the file is no lock: only flock is. The number of a living process is not trusted either.
TEST(Lock, FileWithoutLockIsTaken) {
  const std::string path = lock_path();
  std::ofstream(path) << ::getppid() << "\n";
  const LockFile lock(path, "runs/a");
  EXPECT_TRUE(lock.taken_over());
}

TEST(Lock, FolderThatCannotBeWrittenIsRefused) {
  EXPECT_THROW(LockFile("/nowhere/lock", "runs/a"), Refusal);
}

}  // namespace
}  // namespace tril
