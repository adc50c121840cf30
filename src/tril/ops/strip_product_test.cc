#include "tril/ops/strip_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

// Whole and partial strips, one run of k and several, both storages of b, written and added, against sums in
// double; what lies between two rows of c is left alone.
TEST(StripProduct, EqualsSumsInDouble) {
  each_vector_level([] {
    for (int64_t m : {1, 5, 8, 21})
      for (int64_t n : {1, 16, 33, 64})
        for (int64_t k : {1, 255, 300, 530})
          for (bool turned : {false, true})
            for (bool add : {false, true}) {
              StripProduct p{.m = m, .n = n, .k = k, .b_turned = turned, .add = add};
              p.a_row = k + 1, p.b_row = (turned ? k : n) + 2, p.c_row = n + 3;
              const std::vector<float> a = numbers((m + 1) * p.a_row, 1), old = numbers(m * p.c_row, 3),
                                       b = numbers(((turned ? n : k) + 1) * p.b_row, 2);
              std::vector<float> c = old;
              strip_product(p, a.data(), b.data(), c.data());
              for (int64_t i = 0; i < m; ++i)
                for (int64_t j = 0; j < p.c_row; ++j) {
                  const auto at = static_cast<size_t>(i * p.c_row + j);
                  double expected = add || j >= n ? old[at] : 0;
                  for (int64_t x = 0; x < k && j < n; ++x)
                    expected += double{a[static_cast<size_t>(i * p.a_row + x)]} *
                                b[static_cast<size_t>(turned ? j * p.b_row + x : x * p.b_row + j)];
                  ASSERT_NEAR(c[at], expected, 1e-3) << m << "x" << n << "x" << k << " at " << i << "," << j;
                }
            }
  });
}

}  // namespace
}  // namespace tril
