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

TEST(Arena, ZerosAreZeroAfterReuse) {
  Arena arena;
  Tensor t = arena.tensor({64}, DType::f32);
  for (float& x : t.span<float>()) x = 3;
  arena.rewind();
  for (float x : arena.zeros({64}, DType::f32).span<float>()) EXPECT_EQ(x, 0);
}

}  // namespace
}  // namespace tril
