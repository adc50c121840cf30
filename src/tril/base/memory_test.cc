#include "tril/base/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <vector>

namespace tril {
namespace {

TEST(Memory, PeakGrowsWithWhatIsTouchedAndFitsTheMachine) {
  const int64_t before = peak_memory();
  std::vector<char> block(size_t{64} << 20);
  std::memset(block.data(), 1, block.size());
  const int64_t after = peak_memory();
  EXPECT_GE(after, before);
  EXPECT_GE(after, int64_t{64} << 20);
  EXPECT_LE(after, machine_memory());
}

TEST(Memory, RoomThatIsNotThereIsRefused) {
  require_room(size_t{1} << 20);
  EXPECT_THROW(require_room(size_t{1} << 60), std::bad_alloc);
}

TEST(Memory, ResidentIsWhatIsTouchedNow) {
  const int64_t before = resident_memory();
  ASSERT_GT(before, 0);
  std::vector<char> block(size_t{64} << 20);
  std::memset(block.data(), 1, block.size());
  EXPECT_GE(resident_memory(), before + (int64_t{60} << 20));
  // The system counts pages in bunches, so the two may be a little apart.
  EXPECT_LE(resident_memory(), peak_memory() + (int64_t{4} << 20));
}

}  // namespace
}  // namespace tril
