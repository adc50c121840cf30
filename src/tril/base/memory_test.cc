#include "tril/base/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
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

// It changes no number, whatever the place and the length, also where something stands already.
TEST(Memory, LargePagesChangeNothing) {
  std::vector<char> block(size_t{9} << 20, 'x');
  for (size_t start : {size_t{0}, size_t{1}, size_t{3} << 20})
    for (size_t bytes : {size_t{0}, size_t{100}, size_t{5} << 20})
      prefer_large_pages(block.data() + start, bytes);
  EXPECT_EQ(std::count(block.begin(), block.end(), 'x'), int64_t{9} << 20);
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

TEST(Memory, APeakThatIsForgottenComesAgainOnlyWhenItIsReached) {
  if (::access("/proc/self/clear_refs", W_OK) != 0) GTEST_SKIP() << "the system keeps the peak";
  constexpr size_t kBytes = size_t{64} << 20;
  const auto touch = [] {
    std::vector<char> block(kBytes);
    std::memset(block.data(), 1, block.size());
    EXPECT_EQ(*static_cast<volatile char*>(block.data() + kBytes / 2), 1);
  };
  touch();
  const int64_t before = peak_memory();
  forget_peak();
  EXPECT_LT(peak_memory(), before - (int64_t{32} << 20));
  touch();
  EXPECT_NEAR(static_cast<double>(peak_memory()), static_cast<double>(before), 16e6);
}

}  // namespace
}  // namespace tril
