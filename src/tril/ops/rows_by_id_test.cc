#include "tril/ops/rows_by_id.h"

#include <gtest/gtest.h>

#include <vector>

#include "tril/ops/rows_testing.h"

namespace tril {
namespace {

const std::vector<int32_t> ids = {2, 0, 2, 3, 1};

// Entry i of row r of a table is 100 r + i; what lies behind the result is left alone.
TEST(RowsById, Takes) {
  each_vector_level([] {
    for (int64_t n : {1, 15, 16, 17, 40}) {
      std::vector<float> table(static_cast<size_t>(4 * n)), out(static_cast<size_t>(5 * n + 1), -1);
      for (int64_t i = 0; i < 4 * n; ++i) table[i] = static_cast<float>(100 * (i / n) + i % n);
      rows::take(table.data(), ids.data(), 5, n, out.data());
      for (int64_t i = 0; i < 5 * n; ++i) ASSERT_EQ(out[i], 100 * ids[i / n] + i % n);
      ASSERT_EQ(out.back(), -1);
    }
  });
}

// Of the ids 0 … 2 all but 1: row 2 gets rows 0 and 2 of x, row 0 gets row 1.
TEST(RowsById, AddsToASpanOfTheTable) {
  each_vector_level([] {
    for (int64_t n : {1, 15, 16, 17, 40}) {
      std::vector<float> x(static_cast<size_t>(5 * n)), table(static_cast<size_t>(4 * n), 0.5f);
      for (int64_t i = 0; i < 5 * n; ++i) x[i] = static_cast<float>(100 * (i / n) + i % n);
      rows::add_to(x.data(), ids.data(), 5, n, 0, 3, 1, table.data());
      for (int64_t i = 0; i < n; ++i) {
        const float column = static_cast<float>(i);
        ASSERT_EQ(table[i], 0.5f + 100 + column);
        ASSERT_EQ(table[n + i], 0.5f);
        ASSERT_EQ(table[2 * n + i], 0.5f + 200 + 2 * column);
        ASSERT_EQ(table[3 * n + i], 0.5f);
      }
    }
  });
}

}  // namespace
}  // namespace tril
