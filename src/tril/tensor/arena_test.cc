#include "tril/tensor/arena.h"

#include <gtest/gtest.h>

namespace tril {
namespace {

TEST(Arena, PiecesAreAlignedAndApart) {
  Arena arena;
  auto* a = static_cast<char*>(arena.allocate(1));
  auto* b = static_cast<char*>(arena.allocate(100));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % 64, 0u);
  EXPECT_GE(b - a, 64);
  EXPECT_EQ(arena.used(), 64u + 128u);
}

TEST(Arena, SecondStepAsksForNothing) {
  Arena arena;
  const auto step = [&] {
    for (int i = 0; i < 50; ++i) arena.zeros({1000}, DType::f32);
  };
  step();
  arena.rewind();
  const int64_t calls = arena.system_calls();
  for (int i = 0; i < 3; ++i) {
    step();
    arena.rewind();
  }
  EXPECT_EQ(arena.system_calls(), calls);
  EXPECT_EQ(arena.used(), 0u);
}

// A part's pieces are taken back, what came before them stays, and ten equal parts need the room of one.
TEST(Arena, ReleaseGoesBackToTheMark) {
  Arena arena;
  for (int pass = 0; pass < 3; ++pass) {
    const Tensor before = arena.zeros({4}, DType::f32);
    before.as<float>()[0] = 7;
    for (int part = 0; part < 10; ++part) {
      const Arena::Mark mark = arena.mark();
      for (int i = 0; i < 5; ++i) {
        const Tensor piece = arena.tensor({100000}, DType::f32);
        piece.as<float>()[0] = piece.as<float>()[99999] = 1;
      }
      arena.release(mark);
      EXPECT_EQ(arena.used(), 64u);
    }
    EXPECT_EQ(before.at(0), 7);
    EXPECT_LT(arena.held(), size_t{8} << 20);  // five pieces are 2 MB, all fifty 20 MB
    arena.rewind();
  }
  const int64_t calls = arena.system_calls();
  arena.zeros({4}, DType::f32);
  const Arena::Mark mark = arena.mark();
  for (int i = 0; i < 5; ++i) arena.tensor({100000}, DType::f32);
  arena.release(mark);
  arena.rewind();
  EXPECT_EQ(arena.system_calls(), calls);
}

TEST(Arena, ZerosAreZeroAfterReuse) {
  Arena arena;
  Tensor t = arena.tensor({64}, DType::f32);
  for (float& x : t.span<float>()) x = 3;
  arena.rewind();
  for (float x : arena.zeros({64}, DType::f32).span<float>()) EXPECT_EQ(x, 0);
}

// What is counted is what a real arena would hand out, rounded to 64 bytes; ids stay real.
TEST(Arena, CountingHandsOutNoMemoryForReals) {
  Arena real, counted;
  counted.count_only();
  for (Arena* arena : {&real, &counted}) {
    arena->tensor({3}, DType::f32);
    const Arena::Mark mark = arena->mark();
    arena->zeros({1000, 1000}, DType::f64);
    arena->release(mark);
    const Tensor ids = arena->tensor({5}, DType::i32);
    ids.as<int32_t>()[4] = 7;
  }
  EXPECT_EQ(counted.used(), real.used());
  EXPECT_EQ(counted.used(), 128U);
  EXPECT_EQ(counted.most_used(), 64U + 8000000U);
  EXPECT_EQ(counted.most_used(), real.most_used());
  EXPECT_LT(counted.held(), 100000U);
}

}  // namespace
}  // namespace tril
