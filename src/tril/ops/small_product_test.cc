#include "tril/ops/small_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

// Every mixture of whole and partial tiles, both storages of a, plain and added, against sums in double; what
// lies between two rows of c is left alone.
TEST(SmallProduct, EqualsSumsInDouble) {
  each_vector_level([] {
    for (int64_t m : {1, 3, 4, 9})
      for (int64_t n : {1, 7, 8, 15, 16, 17, 31, 32, 33, 50})
        for (int64_t k : {0, 1, 5, 19})
          for (bool stored_across : {false, true})
            for (bool add : {false, true}) {
              SmallProduct p{
                  .m = m, .n = n, .k = k, .b_row = n + 2, .c_row = n + 3, .alpha = 0.5, .add = add};
              p.a_row = stored_across ? 1 : k + 1, p.a_col = stored_across ? m + 1 : 1;
              const std::vector<float> a = numbers((m + 1) * (k + 1), 1), b = numbers((k + 1) * p.b_row, 2);
              const std::vector<float> old = numbers(m * p.c_row, 3);
              std::vector<float> c = old;
              small_product(p, a.data(), b.data(), c.data());
              for (int64_t i = 0; i < m; ++i)
                for (int64_t j = 0; j < p.c_row; ++j) {
                  const auto at = static_cast<size_t>(i * p.c_row + j);
                  double expected = add || j >= n ? old[at] : 0;
                  for (int64_t x = 0; x < k && j < n; ++x)
                    expected += 0.5 * a[static_cast<size_t>(i * p.a_row + x * p.a_col)] *
                                b[static_cast<size_t>(x * p.b_row + j)];
                  ASSERT_NEAR(c[at], expected, 1e-5) << m << "x" << n << "x" << k << " at " << i << "," << j;
                }
            }
  });
}

TEST(SmallProduct, Transposes) {
  for (int64_t rows : {1, 3, 16, 37})
    for (int64_t cols : {1, 16, 21}) {
      const std::vector<float> x = numbers(rows * (cols + 2), 1);
      std::vector<float> out(static_cast<size_t>(rows * cols));
      transpose(x.data(), rows, cols, cols + 2, out.data());
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < cols; ++c)
          ASSERT_EQ(out[static_cast<size_t>(c * rows + r)], x[static_cast<size_t>(r * (cols + 2) + c)]);
    }
}

}  // namespace
}  // namespace tril
