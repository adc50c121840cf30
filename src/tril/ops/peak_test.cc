#include "tril/ops/peak.h"

#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

// Ten sums of at least one lane, two operations each; wider levels have a power of two more.
TEST(Peak, CountsTheOperationsOfEachLevel) {
  each_vector_level([] {
    const double once = peak::multiply_add(1);
    EXPECT_GE(once, 20);
    EXPECT_EQ(static_cast<int64_t>(once) % 20, 0);
    EXPECT_EQ(peak::multiply_add(7), 7 * once);
    EXPECT_EQ(peak::multiply_add(0), 0);
  });
}

TEST(Peak, ReadsEveryNumberOnce) {
  std::vector<float> x(203);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  each_vector_level([&] {
    for (const int64_t n : {0, 1, 16, 64, 203})
      EXPECT_EQ(peak::read(x.data(), n), static_cast<float>(n * (n - 1) / 2)) << n;
  });
}

}  // namespace
}  // namespace tril
