#include "tril/train/gradient_sum.h"

#include <gtest/gtest.h>

#include "tril/train/ranks_testing.h"

namespace tril {
namespace {

// Five parameters of 16, 32, 16, 48 and 16 numbers, which lie without gaps.
void fill(Parameters& p, int frozen = -1) {
  int number = 0;
  for (const int64_t size : {16, 32, 16, 48, 16}) p.add("p" + std::to_string(number++), {size});
  if (frozen >= 0) p.set_frozen(frozen, true);
  p.allocate();
}

void set_all(const Parameters& p, float value) {
  for (float& g : p.flat_grads().span<float>()) g = value;
}

// 4 bytes a number, buckets of 160 bytes from the end: {48 + 16}, {32 + 16}, {16}.
TEST(GradientSum, BucketsAreCutFromTheEndAndWholeParametersLong) {
  together(1, [](std::unique_ptr<Ranks> ranks) {
    Parameters p, cut;
    fill(p), fill(cut, 2);
    EXPECT_EQ(GradientSum(p, *ranks, 160).buckets(), 3U);
    EXPECT_EQ(GradientSum(p, *ranks, 1).buckets(), 5U);
    EXPECT_EQ(GradientSum(p, *ranks).buckets(), 1U);
    EXPECT_EQ(GradientSum(cut, *ranks).buckets(), 2U) << "a frozen parameter parts them";
  });
}

TEST(GradientSum, EveryGradientIsSummedOnceInWhateverOrderTheyBecomeFinal) {
  const std::vector<std::vector<int>> orders = {{4, 3, 2, 1, 0}, {0, 1, 2, 3, 4}, {2}, {}};
  for (const auto& order : orders) {
    together(3, [&](std::unique_ptr<Ranks> ranks) {
      Parameters p;
      fill(p);
      GradientSum sum(p, *ranks, 160);
      for (int step = 0; step < 2; ++step) {
        set_all(p, static_cast<float>(1 + ranks->rank()));
        sum.begin();
        for (const int parameter : order) {
          sum.gradient_is_final(parameter);
          sum.record_has_run();
        }
        sum.finish();
        for (const float g : p.flat_grads().span<float>()) ASSERT_EQ(g, 6) << step;
      }
      EXPECT_EQ(sum.times().steps, 2);
      EXPECT_EQ(sum.times().bytes, 2 * 4 * 128);
    });
  }
}

TEST(GradientSum, FrozenParametersAreNotSent) {
  together(2, [](std::unique_ptr<Ranks> ranks) {
    Parameters p;
    fill(p, 3);
    GradientSum sum(p, *ranks);
    set_all(p, 1);
    sum.begin();
    sum.finish();
    for (int i = 0; i < p.size(); ++i) EXPECT_EQ(p.grad(i).at(0), i == 3 ? 1 : 2) << i;
  });
}

}  // namespace
}  // namespace tril
